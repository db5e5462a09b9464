// SPDX-License-Identifier: MIT
// What the package uses from Foundation and the C library, so that each file needs one import. On Linux, importing all
// of Foundation would add its internationalization data to every program.
#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif

#if canImport(Darwin)
    @_exported public import Darwin
#elseif canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Android)
    @_exported public import Android
#endif
