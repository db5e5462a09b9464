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
Message/Response/SuggestedFilename  Unicode scalars, and not characters
Message/Redaction/Redaction+Body    bytes, and the essence of a media type, which is ASCII
HTTPTimeline.swift                  the rows of a table
AsyncBytes.swift                    Unicode scalars, and not characters
Chain/LoaderChain.swift             names of links
Templates/Decoding/JSONText.swift   characters that consist of one scalar
Templates/Bodies/Form/FormContainers names of members are converted as Foundation does
Cassettes/CassetteBody.swift        the paths of a test
Snapshots/RequestSnapshot+Check     names of test functions
Laws/ObserverLaws.swift              names of events
AWS/AWSSigner.swift                 the name of a query item, which is compared as bytes
DraftUpload.swift                   names of headers
AWS/AWSCredentials.swift            lines of the user's own file
Cryptography/KeyFormat.swift        lines of the program's own key
LIST
}

sources=(Sources/Letterhead*)
found=$(grep -rnE "$(IFS='|' && echo "${calls[*]}")" "${sources[@]}" --include='*.swift' |
    grep -vE ':[0-9]+: *//|utf8\.split' | grep -v -f <(exceptions | awk '{ print "^Sources/[^/]*/" $1 }') || true)

# Five comparisons of text normalize it: with a literal, in a switch, as a member of a set, as the key of a dictionary, and
# as the raw value of a type. A file that compares outside text in one of these ways makes sure first that the text is a
# token, printable or quickly compared (`ASCII.keyword`, `ASCII.isToken`, `isQuicklyCompared`), or uses `isSame(as:)`.
comparisons=(
    '[^=!](==|!=) "' 'var .*: (Set<String>|\[String: [^]]*\]) = ' ': RawRepresentable, Hashable'
)
# Comparisons of what is one scalar or has been checked in the same line.
checked='keyword|essence|cheme|(\$0|first|scalar|next) (==|!=) "'
# Each with the reason that its text is short, checked, or not that of a peer.
compared() {
    cat <<'LIST'
LetterheadSigning/DigestSession                   the protection is one of two constants
LetterheadSigning/AWS/                            names of headers, and of members of the user's own file
LetterheadSigning/Messages/                       names and keys that are ASCII
LetterheadSigning/Webhook                         one of two constants
LetterheadTransfers/HTTPClient+Uploading          keys of the program
Letterhead/Links/Authentication/HTTPAuthentication names and reasons of the program
LetterheadOAuth/Token                             names of the members that the program sends and stores
Letterhead/Links/Retry/HTTPValidator              halves of the essence of a media type
Letterhead/Message/Headers/ServerDelays           words of ASCII.keyword
LetterheadResilience/LimitRate/RateReport          words of ASCII.keyword
Letterhead/Links/Observing/                       names of events and members
LetterheadObserving/                              names of events, routes and origins of requests that were sent
LetterheadContracts/                              names of members and types of the program
LetterheadRecording/                              names of headers, events and tests, and quickly compared members
LetterheadCaching/CacheControl                    tokens
LetterheadCaching/                                URLs of requests, which are ASCII
Letterhead/Links/Cookies/CookieTable              domains of requests, or quickly compared ones of a file
Letterhead/Links/Redirects/FollowRedirects        URLs of validated requests
Letterhead/Templates/Bodies/                      names of the program
Letterhead/Templates/Decoding/JSON                names that are quickly compared
LetterheadRelay/                                  printable ids, and names of options
LetterheadStreaming/EventStreamParser             the essence of a media type
Letterhead/Message/Observing/TraceContext         hexadecimal digits, and tokens
Letterhead/Message/Observing/HTTPEvent            names of events
Letterhead/Message/URL/URITemplate.swift          names of variables, which are ASCII
Letterhead/Message/Headers/MediaType              tokens and Unicode scalars
Letterhead/Message/Request/HTTPMethod             methods of the program, or tokens of a relay
Letterhead/Message/Errors/HTTPError.swift         codes of the program, or tokens of a relay
Letterhead/Message/Errors/HTTPError+URLError      keys of Foundation
Letterhead/Message/Response/HTTPResponse+HTTPURL  the names of fields, as a dictionary of Foundation has them
Letterhead/Support/HTTPDate                       words of ASCII.keyword
Letterhead/Transport/                             hosts of validated requests, settings, and keywords
LetterheadOAuth/OAuth2+Session                    the code of an error, which is a keyword
LetterheadOAuth/LoopbackListener                  the host of the program's own redirect
LetterheadResilience/CircuitBreaker/              origins and routes of requests
LetterheadTesting/                                requests and recordings of the tests' own program
LIST
}
unchecked=$(grep -rnE "$(IFS='|' && echo "${comparisons[*]}")" "${sources[@]}" --include='*.swift' |
    grep -vE ":[0-9]+: *//|$checked" | grep -v -f <(compared | awk '{ print "^Sources/" $1 }') || true)
switches=$(find "${sources[@]}" -name '*.swift' -print0 | xargs -0 awk '
    /switch .*[{]/ { checked = /keyword|essence|\.name [{]|metrics|words|method|error[.]code/ }
    /^ *case "/ && !checked { print FILENAME ":" FNR ":" $0 }' |
    grep -vE '^Sources/(LetterheadTesting|LetterheadFoundation|LetterheadSigning/Messages|Letterhead/(Support/ByteText|Transport/URLSession))' || true)

found=$(printf '%s\n' "$found" "$unchecked" "$switches" | grep . || true)
[ -z "$found" ] && exit 0
echo "$found"
echo "Use the functions of Support/Bytes.swift and Support/ASCII.swift for text of a peer, or name an exception in $0."
exit 1
