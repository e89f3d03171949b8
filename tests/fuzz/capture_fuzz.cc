// SPDX-License-Identifier: Apache-2.0
//
// Captures of a bus and frames of a monitored bus, through `sideband bus trace`. A decoded event survives encoding, and
// the output contains no terminal control sequences.
//   Input: a first byte, modulo 3: 0 a capture file, 1 the body of an event's frame, 2 that of a monitor's start.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "client/bus/bus_command.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/capture_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/given_files.h"

namespace sideband::fuzz {
namespace {

enum : uint8_t { kFile, kEvent, kStart, kKinds };

Bytes Input(uint8_t kind, Bytes bytes) {
  bytes.insert(bytes.begin(), kind);
  return bytes;
}

Bytes BodyOf(const Bytes& frame) { return Bytes(frame.begin() + smbus::kFrameHeaderBytes, frame.end()); }

smbus::BusRecord SomeRecord() {
  using smbus::Message;
  return {.time_us = 1'000,
          .transfer = {{Message::Write(0x4F, {0x5C, 4, 0x60, 0, 0, 0x80}), Message::ReadBlock(0x4F, 1)}},
          .result = smbus::TransferResult{.read = {{0x04, 0x02, 0x00, 0x00, 0x1F}}, .stretch_us = 12}};
}

Bytes SomeFile() {
  const std::string path = std::filesystem::temp_directory_path() / ("capture_fuzz_seed." + std::to_string(::getpid()));
  {
    auto writer = smbus::CaptureWriter::Create(path, {.host_time_us = 1'700'000'000'000'000});
    FUZZ_CHECK(writer.ok());
    FUZZ_CHECK((*writer)->Append(SomeRecord()).ok());
    FUZZ_CHECK((*writer)->Append(smbus::BusLoss{7}).ok());
  }
  FILE* const file = std::fopen(path.c_str(), "rb");
  Bytes bytes(4096);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  ::unlink(path.c_str());
  return bytes;
}

void CheckLines(const std::string& text) {
  const auto is_shown = [](unsigned char c) { return c == '\n' || (c >= 0x20 && c != 0x7F); };
  FUZZ_CHECK(std::all_of(text.begin(), text.end(), is_shown));
}

void CheckFile(ByteSpan bytes) {
  const MemoryFile file(bytes);
  for (const bool json : {false, true}) {
    auto reader = smbus::CaptureReader::Open(file.path());
    if (!reader.ok()) return CheckLines(std::string(reader.status().message()));
    client::CaptureSource source(*std::move(reader));
    client::StringOutput out;
    const absl::Status status = client::RunTrace(source, {.json = json}, nullptr, out);
    CheckLines(out.text());
    CheckLines(std::string(status.message()));
  }
}

void CheckEvent(ByteSpan body) {
  const auto event = smbus::DecodeMonitorEvent(body);
  if (!event.ok()) return;
  const auto again = smbus::DecodeMonitorEvent(BodyOf(smbus::EncodeMonitorEvent(*event)));
  FUZZ_CHECK(again.ok() && *again == *event);
}

void CheckStart(ByteSpan body) {
  const auto start = smbus::DecodeMonitorStart(body);
  FUZZ_CHECK(!start.ok() || BodyOf(smbus::EncodeMonitorStart(*start)) == Bytes(body.begin(), body.end()));
  (void)smbus::IsMonitorRequest(body);
}

std::vector<Bytes> Seeds() {
  return {Input(kFile, SomeFile()), Input(kEvent, BodyOf(smbus::EncodeMonitorEvent(SomeRecord()))),
          Input(kEvent, BodyOf(smbus::EncodeMonitorEvent(smbus::BusLoss{3}))),
          Input(kStart, BodyOf(smbus::EncodeMonitorStart(1))), Input(kStart, BodyOf(smbus::EncodeMonitorRequest()))};
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const sideband::ByteSpan rest(data + 1, size - 1);
  switch (data[0] % kKinds) {
    case kFile:
      CheckFile(rest);
      break;
    case kEvent:
      CheckEvent(rest);
      break;
    default:
      CheckStart(rest);
  }
  return 0;
}

FUZZ_TARGET(capture_fuzz);

}  // namespace
}  // namespace sideband::fuzz
