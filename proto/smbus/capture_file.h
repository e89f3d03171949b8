// SPDX-License-Identifier: Apache-2.0
//
// Bus traffic in a file: a header, then the frames of a monitor (bus_frame.h). README.md has the layout and an
// example. A capture contains all bytes of the bus, including the counters of confidential VMs.
//   SIDEBAND_ASSIGN_OR_RETURN(auto writer, CaptureWriter::Create("bus.sbt", {.host_time_us = now}));
//   SIDEBAND_RETURN_IF_ERROR(writer->Append(record));
//   SIDEBAND_ASSIGN_OR_RETURN(auto reader, CaptureReader::Open("bus.sbt"));
//   SIDEBAND_ASSIGN_OR_RETURN(auto event, reader->Next());   // until there is none
#ifndef SIDEBAND_PROTO_SMBUS_CAPTURE_FILE_H_
#define SIDEBAND_PROTO_SMBUS_CAPTURE_FILE_H_

#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/file.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::smbus {

inline constexpr uint32_t kCaptureMagic = 0x52544253;  // "SBTR"
inline constexpr uint16_t kCaptureVersion = 1;
inline constexpr size_t kCaptureHeaderBytes = 16;

// Not thread-safe.
class CaptureWriter {
 public:
  struct Options {
    uint64_t host_time_us = 0;  // the start of the records' clock, in microseconds since 1970; 0: unknown
    uint64_t size_max = std::numeric_limits<uint64_t>::max();  // maximum size of the file, in bytes
    // Keeps an older capture until the first event is appended. Until then the new file is PATH.partial, which is
    // removed if the writer is destroyed without an event.
    bool replaces_at_first_event = false;
  };

  // Creates a file that only its owner can read. An older capture at `path` is replaced; other files, including
  // symbolic links, are kept and result in FAILED_PRECONDITION.
  static absl::StatusOr<std::unique_ptr<CaptureWriter>> Create(const std::string& path, const Options& options);
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter&) = delete;
  CaptureWriter& operator=(const CaptureWriter&) = delete;

  // Writes the event completely or not at all. RESOURCE_EXHAUSTED if the file would exceed its maximum size; else the
  // system's error. No events may be appended after an error.
  absl::Status Append(const MonitorEvent& event);

 private:
  CaptureWriter(std::string path, std::string partial, Descriptor file, uint64_t size_max)
      : path_(std::move(path)), partial_(std::move(partial)), file_(std::move(file)), size_max_(size_max) {}

  absl::Status Write(ByteSpan bytes);
  // Renames the file to `path_`.
  absl::Status Publish();

  const std::string path_;
  std::string partial_;  // the current name of the file; empty: path_
  const Descriptor file_;
  const uint64_t size_max_;
  uint64_t size_ = 0;
};

// Not thread-safe. The file may be untrusted: only one frame is held in memory at a time.
class CaptureReader {
 public:
  // INVALID_ARGUMENT if the file is not a capture, or has an unknown version.
  static absl::StatusOr<std::unique_ptr<CaptureReader>> Open(const std::string& path);
  // Reads a duplicate of `fd`, which may be a pipe; errors have `name`.
  static absl::StatusOr<std::unique_ptr<CaptureReader>> FromDescriptor(int fd, const std::string& name);
  CaptureReader(const CaptureReader&) = delete;
  CaptureReader& operator=(const CaptureReader&) = delete;

  // See CaptureWriter::Options.
  uint64_t host_time_us() const { return host_time_us_; }

  // The next event; nullopt after the last. DATA_LOSS "PATH: …" if the file ends within a frame or a frame is
  // malformed. Earlier events are valid; nothing can be read after the error.
  absl::StatusOr<std::optional<MonitorEvent>> Next();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Closer>;

  CaptureReader(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}

  static absl::StatusOr<std::unique_ptr<CaptureReader>> Take(Descriptor opened, const std::string& name);
  absl::Status ReadHeader();
  // Reads up to `size` bytes; fewer only at the end of the file.
  absl::StatusOr<Bytes> Read(size_t size);
  absl::Status CutOff() const;

  const std::string path_;
  const File file_;
  uint64_t host_time_us_ = 0;
  uint64_t frames_ = 0;
};

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_CAPTURE_FILE_H_
