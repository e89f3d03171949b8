// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/tls_context.h"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

absl::Status FileStatus(const error_code& error, const std::string& file) {
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", error.message()));
}

absl::Status UseFiles(ssl::context& context, const TlsFiles& files, const TlsServerConfig& config) {
  error_code error;
  context.use_certificate_chain(boost::asio::buffer(files.certificates()), error);
  SIDEBAND_RETURN_IF_ERROR(FileStatus(error, config.cert_file));
  context.use_private_key(boost::asio::buffer(files.key()), ssl::context::pem, error);
  SIDEBAND_RETURN_IF_ERROR(FileStatus(error, config.key_file));
  if (files.client_ca().empty()) return absl::OkStatus();
  context.add_certificate_authority(boost::asio::buffer(files.client_ca()), error);
  return FileStatus(error, config.client_ca_file);
}

// A resumed session would carry an old verification over to a time when the certificate may be no longer good.
void ForbidResumption(SSL_CTX* context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context, 0);
}

int VerifyMode(ClientAuth auth) {
  switch (auth) {
    case ClientAuth::kRequireAndVerify:
      return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    case ClientAuth::kVerifyIfGiven:
      return SSL_VERIFY_PEER;
    case ClientAuth::kNone:
      return SSL_VERIFY_NONE;
  }
  return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
}

}  // namespace

absl::StatusOr<std::shared_ptr<ssl::context>> MakeTlsContext(const TlsFiles& files, const TlsServerConfig& config) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SIDEBAND_RETURN_IF_ERROR(UseFiles(*context, files, config));
  SSL_CTX* const native = context->native_handle();
  ForbidResumption(native);
  // Most connections are idle most of the time.
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_min_proto_version(native, config.min_version == TlsVersion::kTls13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_verify(native, VerifyMode(config.client_auth), nullptr);
  return context;
}

}  // namespace sideband::daemon
