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

// Whether `path` is a regular file that is empty or begins with a capture's magic.
bool IsCapture(const std::string& path) {
  const Descriptor opened(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened.is_open()) return false;
  struct stat file;
  uint8_t start[sizeof(kCaptureMagic)];
  const bool is_file = fstat(opened.get(), &file) == 0 && S_ISREG(file.st_mode);
  const ssize_t size = is_file ? read(opened.get(), start, sizeof(start)) : -1;
  return size == 0 || (size == sizeof(start) && ByteReader(start).U32() == kCaptureMagic);
}

Descriptor CreateFile(const std::string& path) {
  return Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

absl::Status CheckReplaceable(const std::string& path) {
  struct stat file;
  if (lstat(path.c_str(), &file) == 0 && !IsCapture(path)) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": exists and is not a bus capture"));
  }
  return absl::OkStatus();
}

// Creates a new file instead of truncating the old one, which other processes may have open or be allowed to read.
absl::StatusOr<Descriptor> ReplaceFile(const std::string& path) {
  SIDEBAND_RETURN_IF_ERROR(CheckReplaceable(path));
  unlink(path.c_str());
  Descriptor file = CreateFile(path);
  if (!file.is_open()) return ErrnoStatus(errno, path);
  return file;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CaptureWriter>> CaptureWriter::Create(const std::string& path, const Options& options) {
  SIDEBAND_RETURN_IF_ERROR(CheckReplaceable(path));
  const std::string partial = options.replaces_at_first_event ? path + ".partial" : "";
  SIDEBAND_ASSIGN_OR_RETURN(Descriptor file, ReplaceFile(partial.empty() ? path : partial));
  std::unique_ptr<CaptureWriter> writer(new CaptureWriter(path, partial, std::move(file), options.size_max));
  SIDEBAND_RETURN_IF_ERROR(writer->Write(Header(options.host_time_us)));
  return writer;
}

CaptureWriter::~CaptureWriter() {
  if (!partial_.empty()) unlink(partial_.c_str());
}

absl::Status CaptureWriter::Publish() {
  if (partial_.empty()) return absl::OkStatus();
  // The path may have been replaced since Create().
  SIDEBAND_RETURN_IF_ERROR(CheckReplaceable(path_));
  if (rename(partial_.c_str(), path_.c_str()) != 0) return ErrnoStatus(errno, path_);
  partial_.clear();
  return absl::OkStatus();
}

absl::Status CaptureWriter::Write(ByteSpan bytes) {
  for (size_t written = 0; written < bytes.size();) {
    const ssize_t size = write(file_.get(), bytes.data() + written, bytes.size() - written);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      const int error = errno;
      // Truncates the file to its last whole frame. If that fails, a reader reports the file as cut off.
      [[maybe_unused]] const int cut = ftruncate(file_.get(), static_cast<off_t>(size_));
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
    return absl::ResourceExhaustedError(absl::StrCat(path_, ": has reached its limit of ", size_max_, " bytes"));
  }
  SIDEBAND_RETURN_IF_ERROR(Publish());
  return Write(frame);
}

absl::StatusOr<std::unique_ptr<CaptureReader>> CaptureReader::Open(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(Descriptor opened, OpenForReading(path));
  return Take(std::move(opened), path);
}

absl::StatusOr<std::unique_ptr<CaptureReader>> CaptureReader::FromDescriptor(int fd, const std::string& name) {
  Descriptor opened(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!opened.is_open()) return ErrnoStatus(errno, name);
  return Take(std::move(opened), name);
}

absl::StatusOr<std::unique_ptr<CaptureReader>> CaptureReader::Take(Descriptor opened, const std::string& path) {
  File file(fdopen(opened.get(), "rb"));
  if (file == nullptr) return ErrnoStatus(errno, path);
  opened.Release();
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
  // A file that is shorter than the magic reads as zeros.
  if (in.U32() != kCaptureMagic) return absl::InvalidArgumentError(absl::StrCat(path_, ": is not a bus capture"));
  const uint16_t version = in.U16();
  in.U16();
  host_time_us_ = in.U64();
  if (!in.ok()) return CutOff();
  if (version != kCaptureVersion) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": captures of version ", version, " are not supported"));
  }
  return absl::OkStatus();
}

absl::Status CaptureReader::CutOff() const {
  return absl::DataLossError(absl::StrCat(path_, ": cut off after ", frames_, " whole records"));
}

absl::StatusOr<std::optional<MonitorEvent>> CaptureReader::Next() {
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, Read(kFrameHeaderBytes));
  // The file ends between two frames.
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
