// SPDX-License-Identifier: Apache-2.0
#include "proto/audit/verify_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

absl::StatusOr<File> Open(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(Descriptor opened, OpenForReading(path));
  File file(fdopen(opened.get(), "rb"));
  if (file == nullptr) return ErrnoStatus(errno, path);
  opened.Release();
  return file;
}

// Reads up to `size` bytes; fewer only at the end of the file.
absl::StatusOr<std::string> Read(std::FILE* file, const std::string& path, size_t size) {
  std::string bytes(size, '\0');
  bytes.resize(std::fread(bytes.data(), 1, size, file));
  return std::ferror(file) == 0 ? absl::StatusOr<std::string>(bytes) : ErrnoStatus(errno, path);
}

// The sequence of the first entry; 0 for an empty file.
absl::StatusOr<uint64_t> FirstSequence(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const File file, Open(path));
  // One byte more than the longest line, so that a longer line is rejected.
  SIDEBAND_ASSIGN_OR_RETURN(const std::string start, Read(file.get(), path, kAuditLineBytesMax + 1));
  if (start.empty()) return 0;
  const auto line = DecodeAuditLine(absl::string_view(start).substr(0, start.find('\n')));
  if (!line.ok()) return AtLine(absl::DataLossError(line.status().message()), path, 1);
  return line->entry.sequence;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> OrderedAuditFiles(std::vector<std::string> paths) {
  std::vector<std::pair<uint64_t, std::string>> found;
  for (std::string& path : paths) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint64_t sequence, FirstSequence(path));
    found.emplace_back(sequence, std::move(path));
  }
  std::ranges::stable_sort(found, {}, &std::pair<uint64_t, std::string>::first);
  std::vector<std::string> ordered;
  for (auto& [sequence, path] : found) ordered.push_back(std::move(path));
  return ordered;
}

absl::Status FeedAuditFiles(const std::vector<std::string>& paths, ChainVerifier& chain) {
  constexpr size_t kPieceBytes = 64 << 10;
  for (const std::string& path : paths) {
    SIDEBAND_ASSIGN_OR_RETURN(const File file, Open(path));
    chain.BeginFile(path);
    while (!chain.is_broken()) {
      SIDEBAND_ASSIGN_OR_RETURN(const std::string piece, Read(file.get(), path, kPieceBytes));
      if (piece.empty()) break;
      chain.Feed(piece);
    }
    chain.EndFile();
  }
  return absl::OkStatus();
}

}  // namespace sideband
