// SPDX-License-Identifier: Apache-2.0
#include "client/lib/credentials.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/file.h"
#include "proto/base/openssl_handle.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr size_t kPemSizeMax = 1 << 20;

CertificatePtr FirstCertificate(const std::string& pem) { return ReadCertificate(MemoryReader(pem).get()); }

constexpr char kPrivateKey[] = "PRIVATE KEY-----", kEncrypted[] = "ENCRYPTED";

absl::Status Bad(const std::string& path, absl::string_view what) {
  // OpenSSL's errors must not remain in the thread's queue.
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

// Loads the client's certificate and key.
absl::Status LoadOwn(const std::string& cert_file, const std::string& key_file, TlsMaterial& material) {
  SIDEBAND_ASSIGN_OR_RETURN(material.certificate, ReadFile(cert_file, kPemSizeMax));
  SIDEBAND_ASSIGN_OR_RETURN(material.key, ReadFile(key_file, kPemSizeMax));
  const CertificatePtr certificate = FirstCertificate(material.certificate);
  if (certificate == nullptr && absl::StrContains(material.certificate, kPrivateKey)) {
    return Bad(cert_file, "a private key, not a certificate: are cert_file and key_file swapped?");
  }
  if (certificate == nullptr) return Bad(cert_file, "no PEM certificate in it");
  const KeyPtr key = ReadPrivateKey(MemoryReader(material.key).get());
  if (key == nullptr && absl::StrContains(material.key, kEncrypted)) {
    return Bad(key_file, absl::StrCat("the private key has a passphrase: openssl pkey -in ", key_file,
                                      " -out NEW.key writes it without"));
  }
  if (key == nullptr) return Bad(key_file, "no PEM private key in it");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Bad(key_file, absl::StrCat("not the private key of ", cert_file));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TlsMaterial> LoadTlsMaterial(const std::string& ca_file, const std::string& cert_file,
                                            const std::string& key_file) {
  TlsMaterial material;
  SIDEBAND_ASSIGN_OR_RETURN(material.ca, ReadFile(ca_file, kPemSizeMax));
  if (FirstCertificate(material.ca) == nullptr) return Bad(ca_file, "no PEM certificate in it");
  if (cert_file.empty() && key_file.empty()) return material;
  SIDEBAND_RETURN_IF_ERROR(LoadOwn(cert_file, key_file, material));
  return material;
}

absl::StatusOr<std::string> LoadToken(const std::string& path) {
  constexpr size_t kSpaceAround = 64;
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kTokenBytesMax + kSpaceAround));
  // Windows' editors and shells begin files with a byte order mark.
  if (absl::StartsWith(text, "\xFF\xFE") || absl::StartsWith(text, "\xFE\xFF")) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": a text in UTF-16: save it as plain text (UTF-8)"));
  }
  std::string token(absl::StripAsciiWhitespace(absl::StripPrefix(text, "\xEF\xBB\xBF")));
  if (token.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no token in it"));
  if (token.size() > kTokenBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": longer than ", kTokenBytesMax, " bytes"));
  }
  // Other characters are not valid in a header field.
  const bool is_one_word = std::all_of(token.begin(), token.end(), [](char c) { return absl::ascii_isgraph(c); });
  if (!is_one_word) return absl::InvalidArgumentError(absl::StrCat(path, ": more than one token, or none"));
  return token;
}

std::optional<absl::Time> TokenExpiry(const std::string& token) {
  const std::vector<std::string> parts = absl::StrSplit(token, '.');
  std::string claims;
  if (parts.size() != 3 || !absl::WebSafeBase64Unescape(parts[1], &claims)) return std::nullopt;
  // The claims are read without verification, for error messages only.
  const auto json = nlohmann::json::parse(claims, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("exp") || !json["exp"].is_number()) return std::nullopt;
  return absl::UnixEpoch() + absl::Seconds(json["exp"].get<double>());
}

namespace {

std::array<int64_t, 4> StampOf(const std::string& path) {
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  struct stat file {};
  if (path.empty() || ::stat(path.c_str(), &file) != 0) return {};
  return {static_cast<int64_t>(file.st_dev), static_cast<int64_t>(file.st_ino), file.st_size,
          file.st_mtim.tv_sec * kNanosPerSecond + file.st_mtim.tv_nsec};
}

}  // namespace

FileStamps CredentialStamps(const ClientConfig& config) {
  return {StampOf(config.ca_file), StampOf(config.cert_file), StampOf(config.key_file), StampOf(config.token_file)};
}

}  // namespace sideband::client
