# The Swift of a document: its ```swift blocks in order, and what an HTML comment that begins with "<!-- swift" adds for
# them (declarations that a reader knows by then and a compiler does not).
/^ *```swift *$/ { inside = 1; next }
/^<!-- swift *$/ { inside = 1; next }
inside && (/^ *``` *$/ || /^-->$/) { inside = 0; print ""; next }
inside { print }
