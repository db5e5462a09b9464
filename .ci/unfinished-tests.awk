# The tests that began and did not end, out of what the test runner printed.
/ Test case .* started\.$| Test run / { next }
/ Test .* started\.$/ {
    sub(/^.* Test /, "")
    sub(/ started\.$/, "")
    running[$0] = 1
}
/ Test .* (passed|failed) after / { for (name in running) if (index($0, " Test " name " ")) delete running[name] }
END { for (name in running) print "    " name }
