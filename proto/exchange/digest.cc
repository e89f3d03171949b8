// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/digest.h"

#include <openssl/evp.h>

#include <string>

#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::exchange {
namespace {

template <typename Digest>
absl::StatusOr<Digest> DigestOf(const EVP_MD* algorithm, ByteSpan bytes) {
  Digest digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm, nullptr) != 1) {
    return absl::InternalError("OpenSSL cannot make a digest");
  }
  return digest;
}

constexpr char kThisProgram[] = "/proc/self/exe";
constexpr size_t kProgramBytesMax = size_t{1} << 30;

}  // namespace

absl::StatusOr<Sha256Digest> Sha256(ByteSpan bytes) { return DigestOf<Sha256Digest>(EVP_sha256(), bytes); }

absl::StatusOr<Sha512Digest> Sha512(ByteSpan bytes) { return DigestOf<Sha512Digest>(EVP_sha512(), bytes); }

absl::StatusOr<Sha384Digest> MeasureThisProgram() {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string program, ReadFile(kThisProgram, kProgramBytesMax));
  return DigestOf<Sha384Digest>(EVP_sha384(), AsBytes(program));
}

}  // namespace sideband::exchange
