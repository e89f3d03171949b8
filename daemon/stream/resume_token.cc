// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/resume_token.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/secret_access.h"

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

using sideband::v1::SubscribeRequest;

constexpr uint8_t kVersion = 1;
constexpr size_t kHeaderBytes = 1 + std::tuple_size_v<TokenSalt> + 8;
constexpr size_t kDigestBytes = 32;

// Equal requests are those that ask for the same stream: a stream mode is the default if there is none.
std::string Canonical(const SubscribeRequest& request) {
  SubscribeRequest canonical = request;
  canonical.clear_resume_token();
  canonical.DiscardUnknownFields();
  if (canonical.stream_mode() == SubscribeRequest::STREAM_MODE_UNSPECIFIED) {
    canonical.set_stream_mode(SubscribeRequest::STREAM_MODE_SAMPLE);
  }
  return canonical.SerializeAsString();
}

// For whom and for what a token is.
absl::StatusOr<std::array<uint8_t, kDigestBytes>> DigestOf(const std::string& identity,
                                                           const SubscribeRequest& request) {
  ByteWriter text;
  // With its length: no identity continues as a request.
  text.U64(identity.size());
  text.Raw(AsBytes(identity));
  text.Raw(AsBytes(Canonical(request)));
  std::array<uint8_t, kDigestBytes> digest;
  if (EVP_Digest(text.written().data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    return absl::InternalError("OpenSSL has no SHA-256");
  }
  return digest;
}

// A key is of one stream, so that its tokens' numbers never repeat under it.
envelope::AeadNonce NonceOf(ByteSpan header) {
  envelope::AeadNonce nonce{};
  std::copy(header.end() - 8, header.end(), nonce.end() - 8);
  return nonce;
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

absl::StatusOr<std::string> TokenSealer::Seal(const StreamPosition& position) {
  ByteWriter header;
  header.U8(kVersion);
  header.Raw(salt_);
  header.U64(sequence_++);
  Bytes text = EncodePosition(position);
  std::array<uint8_t, envelope::kAeadTagBytes> tag;
  SIDEBAND_RETURN_IF_ERROR(sealer_.Seal(NonceOf(header.written()), header.written(), text, tag));
  std::string token(header.written().begin(), header.written().end());
  token.append(text.begin(), text.end());
  token.append(tag.begin(), tag.end());
  return token;
}

absl::StatusOr<std::unique_ptr<ResumeTokens>> ResumeTokens::Create() {
  envelope::Secret key(envelope::kAeadKeyBytes);
  const auto bytes = key.Write(envelope::SecretAccess::Get());
  if (RAND_priv_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return absl::InternalError("the system returned no random bytes");
  }
  return std::unique_ptr<ResumeTokens>(new ResumeTokens(std::move(key)));
}

absl::StatusOr<envelope::Secret> ResumeTokens::KeyOf(const std::string& identity, const SubscribeRequest& request,
                                                     ByteSpan salt) const {
  SIDEBAND_ASSIGN_OR_RETURN(const auto info, DigestOf(identity, request));
  return envelope::HkdfSha256(key_, salt, info, envelope::kAeadKeyBytes);
}

absl::StatusOr<TokenSealer> ResumeTokens::Begin(const std::string& identity, const SubscribeRequest& request) const {
  TokenSalt salt;
  if (RAND_bytes(salt.data(), static_cast<int>(salt.size())) != 1) {
    return absl::InternalError("the system returned no random bytes");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const envelope::Secret key, KeyOf(identity, request, salt));
  SIDEBAND_ASSIGN_OR_RETURN(envelope::AeadSealer sealer, envelope::AeadSealer::Create(key));
  return TokenSealer(std::move(sealer), salt);
}

std::optional<StreamPosition> ResumeTokens::Open(const std::string& identity, const SubscribeRequest& request,
                                                 const std::string& token) const {
  const ByteSpan bytes = AsBytes(token);
  if (bytes.size() < kHeaderBytes + envelope::kAeadTagBytes || bytes[0] != kVersion) return std::nullopt;
  const ByteSpan header = bytes.first(kHeaderBytes);
  const auto tag = bytes.last<envelope::kAeadTagBytes>();
  const auto key = KeyOf(identity, request, header.subspan(1, std::tuple_size_v<TokenSalt>));
  if (!key.ok()) return std::nullopt;
  const ByteSpan sealed = bytes.subspan(kHeaderBytes, bytes.size() - kHeaderBytes - envelope::kAeadTagBytes);
  Bytes text(sealed.begin(), sealed.end());
  if (!envelope::AeadOpen(*key, NonceOf(header), header, text, tag).ok()) return std::nullopt;
  return DecodePosition(text);
}

}  // namespace sideband::daemon
