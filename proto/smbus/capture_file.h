// SPDX-License-Identifier: Apache-2.0
//
// What passed a bus, in a file: a header, then the frames that a monitor is sent (monitor_frame.h). README.md has the
// layout and an example. A capture holds every byte of the bus, the counters of confidential VMs included.
//   SIDEBAND_ASSIGN_OR_RETURN(auto writer, CaptureWriter::Create("bus.sbt", {.host_time_us = now}));
//   SIDEBAND_RETURN_IF_ERROR(writer->Append(record));
//   SIDEBAND_ASSIGN_OR_RETURN(auto reader, CaptureReader::Open("bus.sbt"));
//   while (true) { SIDEBAND_ASSIGN_OR_RETURN(auto event, reader->Next()); if (!event) break; … }
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
#include "proto/smbus/monitor_frame.h"

namespace sideband::smbus {

inline constexpr uint32_t kCaptureMagic = 0x52544253;  // "SBTR"
inline constexpr uint16_t kCaptureVersion = 1;
inline constexpr size_t kCaptureHeaderBytes = 16;

// Not thread-safe.
class CaptureWriter {
 public:
  struct Options {
    uint64_t host_time_us = 0;  // the instant that the records count from, in microseconds since 1970; 0: unknown
    uint64_t size_max = std::numeric_limits<uint64_t>::max();  // of the file, in bytes
  };

  // A new file that only its owner can read. An older capture of that name is replaced; anything else of that name,
  // a symbolic link too, is FAILED_PRECONDITION and stays.
  static absl::StatusOr<std::unique_ptr<CaptureWriter>> Create(const std::string& path, const Options& options);
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter&) = delete;
  CaptureWriter& operator=(const CaptureWriter&) = delete;

  // Writes the event as a whole, or not at all: RESOURCE_EXHAUSTED where the file would become larger than it may be,
  // else what the system says. After an error nothing more is to be appended.
  absl::Status Append(const MonitorEvent& event);

 private:
  CaptureWriter(std::string path, int fd, uint64_t size_max) : path_(std::move(path)), fd_(fd), size_max_(size_max) {}

  absl::Status Write(ByteSpan bytes);

  const std::string path_;
  const int fd_;
  const uint64_t size_max_;
  uint64_t size_ = 0;
};

// Not thread-safe. The file may come from anybody: one frame of it is in memory at a time.
class CaptureReader {
 public:
  // INVALID_ARGUMENT where the file is no capture, or one of a version that is unknown here.
  static absl::StatusOr<std::unique_ptr<CaptureReader>> Open(const std::string& path);
  CaptureReader(const CaptureReader&) = delete;
  CaptureReader& operator=(const CaptureReader&) = delete;

  // As CaptureWriter::Options has it.
  uint64_t host_time_us() const { return host_time_us_; }

  // None after the last. DATA_LOSS "PATH: …" where the file ends within a frame, or the frame is none; what came before
  // it is good, and nothing after it can be read.
  absl::StatusOr<std::optional<MonitorEvent>> Next();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Closer>;

  CaptureReader(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status ReadHeader();
  // Up to `size` bytes, fewer only at the end of the file.
  absl::StatusOr<Bytes> Read(size_t size);
  absl::Status CutOff() const;

  const std::string path_;
  const File file_;
  uint64_t host_time_us_ = 0;
  uint64_t frames_ = 0;
};

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_CAPTURE_FILE_H_
