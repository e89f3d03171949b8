// SPDX-License-Identifier: Apache-2.0
#include "proto/base/openssl_handle.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "absl/strings/str_cat.h"

namespace sideband {
namespace {

// Without it OpenSSL would ask for a pass phrase on the terminal.
int NoPassPhrase(char* /*buffer*/, int /*size*/, int /*is_writing*/, void* /*argument*/) { return -1; }

}  // namespace

BioPtr MemoryReader(absl::string_view bytes) {
  return BioPtr(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

CertificatePtr ReadCertificate(BIO* reader) {
  return CertificatePtr(PEM_read_bio_X509(reader, nullptr, NoPassPhrase, nullptr));
}

KeyPtr ReadPrivateKey(BIO* reader) { return KeyPtr(PEM_read_bio_PrivateKey(reader, nullptr, NoPassPhrase, nullptr)); }

absl::Status OpenSslFailed(absl::string_view what) {
  ERR_clear_error();
  return absl::InternalError(absl::StrCat("OpenSSL could not ", what));
}

}  // namespace sideband
