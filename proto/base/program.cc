// SPDX-License-Identifier: Apache-2.0
#include "proto/base/program.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/visible.h"

namespace sideband {
namespace {

// Formatted in advance: no memory can be allocated when it is written.
std::array<char, 128> last_line;
size_t last_line_size = 0;

[[noreturn]] void WriteLastLineAndAbort() {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, last_line.data(), last_line_size);
  std::abort();
}

int Fail(const std::string& program, absl::string_view what) {
  std::fputs(absl::StrCat(program, ": ", Visible(what), "\n").c_str(), stderr);
  return EXIT_FAILURE;
}

std::string TextOf(const std::filesystem::filesystem_error& error) {
  const std::string path = error.path1().string();
  return path.empty() ? error.what() : absl::StrCat(path, ": ", error.code().message());
}

}  // namespace

int RunProgram(const std::string& program, const std::function<int()>& main) {
  try {
    return main();
  } catch (const std::filesystem::filesystem_error& error) {
    return Fail(program, TextOf(error));
  } catch (const std::bad_alloc&) {
    return Fail(program, "out of memory");
  } catch (const std::exception& error) {
    return Fail(program, error.what());
  }
}

void AbortWhenOutOfMemory(const std::string& program) {
  const std::string line = absl::StrCat(program, ": out of memory\n");
  last_line_size = std::min(line.size(), last_line.size());
  std::copy_n(line.begin(), last_line_size, last_line.begin());
  std::set_new_handler(&WriteLastLineAndAbort);
}

}  // namespace sideband
