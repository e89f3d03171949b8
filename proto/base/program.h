// SPDX-License-Identifier: Apache-2.0
//
// The outermost function of a program: converts exceptions of libraries (file systems, memory) to a one-line message
// and an exit status.
//   int main(int argc, char** argv) { return RunProgram("sideband", [&] { return Main(argc, argv); }); }
#ifndef SIDEBAND_PROTO_BASE_PROGRAM_H_
#define SIDEBAND_PROTO_BASE_PROGRAM_H_

#include <functional>
#include <string>

namespace sideband {

// Returns the result of `main`. If `main` throws, prints "PROGRAM: what" to standard error and returns 1: for a
// file-system error "PROGRAM: PATH: reason", for a failed allocation "PROGRAM: out of memory".
int RunProgram(const std::string& program, const std::function<int()>& main);

// From now on, a failed allocation in any thread ends the program by SIGABRT, with "PROGRAM: out of memory" as the last
// line on standard error. For programs whose threads cannot continue after it. Call once, before other threads start.
void AbortWhenOutOfMemory(const std::string& program);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_PROGRAM_H_
