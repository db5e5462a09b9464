#!/usr/bin/env bash
# Operations on characters find no delimiter before a combining mark, and normalizing text takes quadratic time. Text of a
# peer is split, searched and compared as bytes instead, by the functions in Support/Bytes.swift and Support/ASCII.swift.
set -euo pipefail

calls=(
    '\.split\(separator: "' '\.split\(whereSeparator' '\.split \{' '\.(first|last)Index\(of: "' '\.has(Prefix|Suffix)\('
    '\.replacing\(' '\.trimmingCharacters' '\.components\(separatedBy' '\.range\(of: "' '\.(lower|upper)cased\(\)'
    '\.is(Letter|Number|Whitespace|Newline)\b' '\bCharacter\b' 'for character in' '\[\.\.\.[a-z]'
    '(prefix|drop|first|firstIndex|last|lastIndex|allSatisfy) \{ \$0 (==|!=) "'
    # Not of headers, tokens or a cache control, whose names end in s and l.
    '[a-km-rt-zA-Z0-9]\.contains\("'
)
# The beginnings of paths in a target, each with the reason that its text is not split or compared as that of a peer.
exceptions() {
    cat <<'LIST'
Support/Bytes.swift                 the functions themselves
Message/Errors/HTTPError+Summary    names of cases of Swift errors, and the words of Foundation's messages
Message/Headers/MediaType.swift     Unicode scalars, and not characters
Message/Redaction/Redaction+Body    bytes, and the essence of a media type, which is ASCII
Links/Observing/HTTPTimeline.swift  the rows of a table
Chain/LoaderChain.swift             names of links
Templates/Decoding/JSONText.swift   characters that consist of one scalar
Templates/Bodies/Form/FormPairs     names of members are converted as Foundation does
Cassettes/Cassette+Audit            the entropy of recorded text
Cassettes/CassetteBody.swift        the paths of a test
Snapshots/RequestSnapshot+Check     names of test functions
Laws/EventOrder.swift                names of events
LIST
}

found=$(grep -rnE "$(IFS='|' && echo "${calls[*]}")" Sources/Letterhead{,OAuth,Resilience,Transfers,Testing} --include='*.swift' |
    grep -vE ':[0-9]+: *//|utf8\.split' | grep -v -f <(exceptions | awk '{ print "^Sources/[^/]*/" $1 }') || true)
[ -z "$found" ] && exit 0
echo "$found"
echo "Use the functions of Support/Bytes.swift and Support/ASCII.swift for text of a peer, or name an exception in $0."
exit 1
