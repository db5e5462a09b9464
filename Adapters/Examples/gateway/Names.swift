// SPDX-License-Identifier: MIT
import Letterhead

// Hummingbird and swift-http-types, which it exports, have these names, too. A module's own names take precedence over
// imported ones, so these aliases settle what the names mean in this program. Write the others with their module, as in
// `Hummingbird.HTTPError`. Copy this file into a program that imports both.

typealias HTTPError = Letterhead.HTTPError
typealias HTTPRequest = Letterhead.HTTPRequest
typealias HTTPResponse = Letterhead.HTTPResponse
typealias MediaType = Letterhead.MediaType
