// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/capture_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::smbus {
namespace {

Bytes Header(uint64_t host_time_us) {
  ByteWriter out;
  out.U32(kCaptureMagic);
  out.U16(kCaptureVersion);
  out.U16(0);  // reserved
  out.U64(host_time_us);
  return std::move(out).Take();
}

// Whether there is a regular file that begins as a capture does, or is empty.
bool IsCapture(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat file;
  uint8_t start[sizeof(kCaptureMagic)];
  const bool is_file = fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
  const ssize_t size = is_file ? read(fd, start, sizeof(start)) : -1;
  close(fd);
  return size == 0 || (size == sizeof(start) && ByteReader(start).U32() == kCaptureMagic);
}

int CreateFile(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

// A file of its own rather than the old one emptied, which others may have open or be allowed to read.
absl::StatusOr<int> ReplaceFile(const std::string& path) {
  int fd = CreateFile(path);
  if (fd < 0 && errno == EEXIST) {
    if (!IsCapture(path)) return absl::FailedPreconditionError(absl::StrCat(path, ": exists and is no bus capture"));
    unlink(path.c_str());
    fd = CreateFile(path);
  }
  if (fd < 0) return ErrnoStatus(errno, path);
  return fd;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CaptureWriter>> CaptureWriter::Create(const std::string& path, const Options& options) {
  SIDEBAND_ASSIGN_OR_RETURN(const int fd, ReplaceFile(path));
  std::unique_ptr<CaptureWriter> writer(new CaptureWriter(path, fd, options.size_max));
  SIDEBAND_RETURN_IF_ERROR(writer->Write(Header(options.host_time_us)));
  return writer;
}

CaptureWriter::~CaptureWriter() { close(fd_); }

absl::Status CaptureWriter::Write(ByteSpan bytes) {
  for (size_t written = 0; written < bytes.size();) {
    const ssize_t size = write(fd_, bytes.data() + written, bytes.size() - written);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      const int error = errno;
      // The file ends with the last whole frame; where even that fails, its reader says that it is cut off.
      [[maybe_unused]] const int cut = ftruncate(fd_, static_cast<off_t>(size_));
      return ErrnoStatus(error, path_);
    }
    written += static_cast<size_t>(size);
  }
  size_ += bytes.size();
  return absl::OkStatus();
}

absl::Status CaptureWriter::Append(const MonitorEvent& event) {
  const Bytes frame = EncodeMonitorEvent(event);
  if (frame.size() > size_max_ - std::min(size_, size_max_)) {
    return absl::ResourceExhaustedError(absl::StrCat(path_, ": as large as it may be, ", size_max_, " bytes"));
  }
  return Write(frame);
}

absl::StatusOr<std::unique_ptr<CaptureReader>> CaptureReader::Open(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return ErrnoStatus(errno, path);
  std::unique_ptr<CaptureReader> reader(new CaptureReader(path, std::move(file)));
  SIDEBAND_RETURN_IF_ERROR(reader->ReadHeader());
  return reader;
}

absl::StatusOr<Bytes> CaptureReader::Read(size_t size) {
  Bytes bytes(size);
  bytes.resize(std::fread(bytes.data(), 1, size, file_.get()));
  if (std::ferror(file_.get()) != 0) return ErrnoStatus(errno, path_);
  return bytes;
}

absl::Status CaptureReader::ReadHeader() {
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, Read(kCaptureHeaderBytes));
  ByteReader in(header);
  if (in.U32() != kCaptureMagic) return absl::InvalidArgumentError(absl::StrCat(path_, ": is no bus capture"));
  const uint16_t version = in.U16();
  in.U16();
  host_time_us_ = in.U64();
  if (!in.ok()) return CutOff();
  if (version != kCaptureVersion) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": captures of version ", version, " are not known here"));
  }
  return absl::OkStatus();
}

absl::Status CaptureReader::CutOff() const {
  return absl::DataLossError(absl::StrCat(path_, ": cut off after ", frames_, " whole records"));
}

absl::StatusOr<std::optional<MonitorEvent>> CaptureReader::Next() {
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, Read(kFrameHeaderBytes));
  if (header.empty()) return std::nullopt;
  if (header.size() < kFrameHeaderBytes) return CutOff();
  absl::StatusOr<MonitorEvent> event;
  if (const auto size = FrameBodySize(header, kMonitorBodyBytesMax); !size.ok()) {
    event = size.status();
  } else {
    SIDEBAND_ASSIGN_OR_RETURN(const Bytes body, Read(*size));
    if (body.size() < *size) return CutOff();
    event = DecodeMonitorEvent(body);
  }
  ++frames_;
  if (!event.ok()) {
    return absl::DataLossError(absl::StrCat(path_, ": record ", frames_, ": ", event.status().message()));
  }
  return *std::move(event);
}

}  // namespace sideband::smbus
