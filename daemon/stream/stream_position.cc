// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/stream_position.h"

#include <utility>

namespace sideband::daemon {
namespace {

constexpr size_t kDevicesMax = 4096;  // a bound for the decoder alone
constexpr size_t kEventsMax = 32;     // of a board
constexpr int kVarintBytesMax = 10;

enum Flag : uint8_t { kHasDue = 1, kHasSensors = 2 };

// Seven bits a byte, low bits first; the top bit is set in all bytes but the last.
void PutVarint(uint64_t value, ByteWriter& out) {
  for (; value >= 0x80; value >>= 7) out.U8(static_cast<uint8_t>(value) | 0x80);
  out.U8(static_cast<uint8_t>(value));
}

uint64_t TakeVarint(ByteReader& in) {
  uint64_t value = 0;
  for (int i = 0; i < kVarintBytesMax; ++i) {
    const uint8_t byte = in.U8();
    value |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if ((byte & 0x80) == 0) break;
  }
  return value;
}

void PutSigned(int64_t value, ByteWriter& out) {
  PutVarint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63), out);
}
int64_t TakeSigned(ByteReader& in) {
  const uint64_t number = TakeVarint(in);
  return static_cast<int64_t>(number >> 1 ^ (0 - (number & 1)));
}

// How long before the token, in milliseconds.
void PutAge(absl::Time token, absl::Time time, ByteWriter& out) {
  PutSigned(static_cast<int64_t>(static_cast<uint64_t>(absl::ToUnixMillis(token)) -
                                 static_cast<uint64_t>(absl::ToUnixMillis(time))),
            out);
}
absl::Time TakeAge(absl::Time token, ByteReader& in) {
  const auto milliseconds = static_cast<uint64_t>(absl::ToUnixMillis(token)) - static_cast<uint64_t>(TakeSigned(in));
  return absl::FromUnixMillis(static_cast<int64_t>(milliseconds));
}

void PutDevice(const DevicePosition& device, absl::Time token, ByteWriter& out) {
  PutVarint(device.device, out);
  out.String(device.name);
  out.U8((device.due ? kHasDue : 0) | (device.sensors_steady ? kHasSensors : 0));
  out.U64(device.boot_id);
  PutVarint(device.after, out);
  PutAge(token, device.host_time, out);
  if (device.due) PutSigned(absl::ToInt64Nanoseconds(*device.due), out);
  if (!device.sensors_steady) return;
  PutSigned(absl::ToInt64Nanoseconds(*device.sensors_steady), out);
  PutAge(token, device.sensors_time, out);
}

DevicePosition TakeDevice(absl::Time token, ByteReader& in) {
  DevicePosition device;
  device.device = static_cast<uint32_t>(TakeVarint(in));
  device.name = in.String();
  const uint8_t flags = in.U8();
  device.boot_id = in.U64();
  device.after = TakeVarint(in);
  device.host_time = TakeAge(token, in);
  if ((flags & kHasDue) != 0) device.due = absl::Nanoseconds(TakeSigned(in));
  if ((flags & kHasSensors) == 0) return device;
  device.sensors_steady = absl::Nanoseconds(TakeSigned(in));
  device.sensors_time = TakeAge(token, in);
  return device;
}

void PutBoard(const BoardPosition& board, ByteWriter& out) {
  out.String(board.name);
  PutVarint(board.messages, out);
  out.U64(board.reader_id);
  PutVarint(board.raised.size(), out);
  for (const uint64_t count : board.raised) PutVarint(count, out);
}

std::optional<BoardPosition> TakeBoard(ByteReader& in) {
  BoardPosition board;
  board.name = in.String();
  board.messages = TakeVarint(in);
  board.reader_id = in.U64();
  const uint64_t events = TakeVarint(in);
  if (events > kEventsMax) return std::nullopt;
  for (uint64_t i = 0; i < events; ++i) board.raised.push_back(TakeVarint(in));
  return board;
}

}  // namespace

Bytes EncodePosition(const StreamPosition& position) {
  ByteWriter out;
  PutVarint(position.policy_version, out);
  out.U64(static_cast<uint64_t>(absl::ToUnixMillis(position.time)));
  out.U64(position.state);
  PutVarint(position.devices.size(), out);
  for (const DevicePosition& device : position.devices) PutDevice(device, position.time, out);
  PutVarint(position.boards.size(), out);
  for (const BoardPosition& board : position.boards) PutBoard(board, out);
  return std::move(out).Take();
}

std::optional<StreamPosition> DecodePosition(ByteSpan bytes) {
  ByteReader in(bytes);
  StreamPosition position;
  position.policy_version = TakeVarint(in);
  position.time = absl::FromUnixMillis(static_cast<int64_t>(in.U64()));
  position.state = in.U64();
  const uint64_t devices = TakeVarint(in);
  if (devices > kDevicesMax) return std::nullopt;
  for (uint64_t i = 0; i < devices && in.ok(); ++i) position.devices.push_back(TakeDevice(position.time, in));
  const uint64_t boards = TakeVarint(in);
  if (boards > kDevicesMax) return std::nullopt;
  for (uint64_t i = 0; i < boards && in.ok(); ++i) {
    auto board = TakeBoard(in);
    if (!board) return std::nullopt;
    position.boards.push_back(*std::move(board));
  }
  if (!in.ok() || in.remaining() > 0) return std::nullopt;
  return position;
}

}  // namespace sideband::daemon
