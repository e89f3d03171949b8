// SPDX-License-Identifier: Apache-2.0
//
// A folder of its own for a target whose code reads files by name.
//   static const ScratchFolder folder;
//   const std::string path = folder.path() + "/c.yaml";
#ifndef SIDEBAND_TESTS_FUZZ_SCRATCH_FOLDER_H_
#define SIDEBAND_TESTS_FUZZ_SCRATCH_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {

// Exists as long as this object.
class ScratchFolder {
 public:
  ScratchFolder() : path_(std::filesystem::temp_directory_path() / "sb-fuzz-XXXXXX") {
    FUZZ_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sideband::fuzz

#endif  // SIDEBAND_TESTS_FUZZ_SCRATCH_FOLDER_H_
