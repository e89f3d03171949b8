// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/keys.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

ByteSpan InfoOf(uint8_t suite) {
  static constexpr absl::string_view kOfStaticKey = "sideband/1 static", kOfExchange = "sideband/2 exchange";
  const absl::string_view info = suite == kSuiteHpke ? kOfExchange : kOfStaticKey;
  return {reinterpret_cast<const uint8_t*>(info.data()), info.size()};
}

constexpr size_t kHexBytes = 2 * kStaticKeyBytes;

// Reads up to the buffer's size; returns the number of bytes read.
absl::StatusOr<size_t> ReadUpTo(int fd, const std::string& path, std::span<uint8_t> buffer) {
  size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t got = ::read(fd, buffer.data() + size, buffer.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  return size;
}

std::optional<uint8_t> HexDigit(uint8_t character) {
  if (!absl::ascii_isxdigit(character)) return std::nullopt;
  return character <= '9' ? character - '0' : absl::ascii_tolower(character) - 'a' + 10;
}

std::optional<Secret> FromHex(ByteSpan digits) {
  Secret key(kStaticKeyBytes);
  const std::span<uint8_t> out = key.Write(SecretAccess::Get());
  for (size_t i = 0; i < out.size(); ++i) {
    const auto high = HexDigit(digits[2 * i]), low = HexDigit(digits[2 * i + 1]);
    if (!high.has_value() || !low.has_value()) return std::nullopt;
    out[i] = static_cast<uint8_t>(*high << 4 | *low);
  }
  return key;
}

std::optional<Secret> ParseKey(ByteSpan contents) {
  if (contents.size() == kStaticKeyBytes) return Secret::CopyOf(contents);
  const bool broken_line = contents.size() == kHexBytes + 1 && contents.back() == '\n';
  if (contents.size() == kHexBytes || broken_line) return FromHex(contents.first(kHexBytes));
  return std::nullopt;
}

// The salt of README.md, "Keys".
Bytes Salt(const KeyScope& scope) {
  ByteWriter salt;
  salt.U64(scope.epoch);
  salt.U64(scope.boot_id);
  salt.Raw(scope.device.bytes);
  salt.Raw(scope.vm.bytes);
  salt.U32(scope.generation);
  if (scope.guest_nonce.has_value()) salt.Raw(*scope.guest_nonce);
  return std::move(salt).Take();
}

ByteSpan StepInfo() {
  static constexpr absl::string_view kInfo = "sideband/2 ratchet";
  return {reinterpret_cast<const uint8_t*>(kInfo.data()), kInfo.size()};
}

static_assert(kTagBytes == kAeadTagBytes);

absl::Status CheckHeader(const SessionKeys& keys, const RecordHeader& header, size_t content_bytes) {
  if (KeyScope::Of(header) != keys.scope()) return absl::InvalidArgumentError("header is not of the session's scope");
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t needed, PaddedLengthFor(content_bytes, header.suite));
  if (header.padded_length < needed || header.padded_length > kPaddedLengthMax ||
      header.padded_length % PaddingUnitOf(header.suite) != 0) {
    return absl::InvalidArgumentError("padded length is invalid, or too small for the content");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Secret> LoadStaticKey(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const Descriptor file, OpenForReading(path, FileTrust::kPrivate));
  // One byte more than the longest form detects a longer file. std::string is avoided because it would leave copies.
  std::array<uint8_t, kHexBytes + 2> buffer;
  const absl::StatusOr<size_t> size = ReadUpTo(file.get(), path, buffer);
  if (!size.ok()) return size.status();
  std::optional<Secret> key = ParseKey(ByteSpan(buffer).first(*size));
  WipeBytes(buffer);
  if (key.has_value()) return *std::move(key);
  return absl::InvalidArgumentError(absl::StrCat(path, ": not a key (64 hexadecimal digits, or 32 raw bytes)"));
}

KeyScope KeyScope::Of(const RecordHeader& header) {
  return {.suite = header.suite,
          .epoch = header.epoch,
          .boot_id = header.boot_id,
          .device = header.device,
          .vm = header.vm,
          .generation = header.generation,
          .guest_nonce = header.guest_nonce};
}

absl::StatusOr<SessionKeys> SessionKeys::Derive(const Secret& secret, const KeyScope& scope) {
  if (secret.size() != kStaticKeyBytes) return absl::InvalidArgumentError("a static key has 32 bytes");
  SIDEBAND_ASSIGN_OR_RETURN(const Secret derived,
                            HkdfSha256(secret, Salt(scope), InfoOf(scope.suite), kAeadKeyBytes + kAeadNonceBytes));
  const ByteSpan bytes = derived.Read(SecretAccess::Get());
  return SessionKeys(scope, Secret::CopyOf(bytes.first(kAeadKeyBytes)), Secret::CopyOf(bytes.last(kAeadNonceBytes)));
}

AeadNonce SessionKeys::NonceFor(uint64_t sequence) const {
  AeadNonce nonce;
  std::ranges::copy(base_nonce_.Read(SecretAccess::Get()), nonce.begin());
  // Distinct sequences give distinct nonces, as in TLS 1.3 (RFC 8446, section 5.3).
  for (size_t i = 0; i < sizeof(sequence); ++i)
    nonce[nonce.size() - 1 - i] ^= static_cast<uint8_t>(sequence >> (8 * i));
  return nonce;
}

absl::Status Ratchet::AdvanceTo(uint64_t epoch) {
  if (epoch < epoch_ || epoch >= kExchangeEpochsMax) return absl::OutOfRangeError("no such epoch of the exchange");
  Secret secret = secret_.Clone();
  for (uint64_t at = epoch_; at < epoch; ++at) {
    SIDEBAND_ASSIGN_OR_RETURN(secret, HkdfExpand(secret, StepInfo(), secret.size()));
  }
  secret_ = std::move(secret);
  epoch_ = epoch;
  return absl::OkStatus();
}

absl::StatusOr<Bytes> SealRecord(const SessionKeys& keys, const RecordHeader& header, ByteSpan content) {
  SIDEBAND_RETURN_IF_ERROR(CheckHeader(keys, header, content.size()));
  const Bytes encoded = EncodeHeader(header);
  ByteWriter length;
  length.U32(static_cast<uint32_t>(content.size()));
  // Zeros are the padding.
  Bytes record(encoded.size() + header.padded_length + kAeadTagBytes);
  std::ranges::copy(encoded, record.begin());
  const std::span<uint8_t> text = std::span(record).subspan(encoded.size(), header.padded_length);
  SIDEBAND_RETURN_IF_ERROR(AeadSeal(keys.key(), keys.NonceFor(header.sequence), encoded,
                                    std::array<ByteSpan, 2>{length.written(), content}, text,
                                    std::span(record).last<kAeadTagBytes>()));
  return record;
}

}  // namespace sideband::envelope
