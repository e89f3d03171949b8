// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/string_view.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "sim/waveform/fst_file.h"
#include "sim/waveform/gz_file.h"
#include "sim/waveform/zst_file.h"

namespace sideband::sim {
namespace {

// RFC 8878, section 3.1.1.
constexpr absl::string_view kZstdMagic("\x28\xb5\x2f\xfd", 4);
// The header: a block of type 0 with 329 bytes (GTKWave's fstapi.h). Whole files may also be compressed by gzip, in a
// block of type 254.
constexpr absl::string_view kFstHeader("\0\0\0\0\0\0\0\x01\x49", 9);
constexpr char kFstPacked = '\xfe';

bool IsFst(absl::string_view start, absl::string_view path) {
  const bool has_name = path.size() > 4 && path.substr(path.size() - 4) == ".fst";
  return start.substr(0, kFstHeader.size()) == kFstHeader || (has_name && !start.empty() && start[0] == kFstPacked);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceFile>> OpenTraceFile(const std::string& path) {
  // gzopen does not distinguish a missing file from a lack of memory.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ErrnoStatus(errno, path);
  char bytes[kFstHeader.size()];
  const ssize_t size = ::pread(descriptor, bytes, sizeof(bytes), 0);
  const absl::string_view start(bytes, size < 0 ? 0 : static_cast<size_t>(size));
  if (start.substr(0, kZstdMagic.size()) == kZstdMagic) return ZstFile::Take(descriptor);
  if (!IsFst(start, path)) return GzFile::Take(descriptor, path);
  ::close(descriptor);
  return FstFile::Open(path);
}

}  // namespace sideband::sim
