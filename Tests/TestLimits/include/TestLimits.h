// SPDX-License-Identifier: MIT
// Sets two limits when a program starts that links this target:
//
// - The process may open as many files as the system allows, or 10,240. The default of a shell is often 1,024 or 256, and
//   tests that run at the same time, each with a server, need a few thousand.
// - 48 tests run at the same time, unless the environment says otherwise. With all tests at the same time, each step of a
//   request waits for its turn among thousands of tasks, and time limits pass.
