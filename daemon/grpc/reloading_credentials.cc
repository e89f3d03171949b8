// SPDX-License-Identifier: Apache-2.0
//
// gRPC's own FileWatcherCertificateProvider reads files by itself, too, but takes whatever it finds: it does not see
// whether key and certificate belong together before it has replaced what was good, and a client's names are not
// told apart as the older SSL credentials do. Those have a fetcher, which gRPC asks under a lock before each handshake.
#include "daemon/grpc/reloading_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <string>

namespace sideband::daemon {
namespace {

grpc_ssl_client_certificate_request_type RequestType(ClientAuth auth) {
  switch (auth) {
    case ClientAuth::kRequireAndVerify:
      return GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
    case ClientAuth::kVerifyIfGiven:
      return GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
    case ClientAuth::kNone:
      return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  }
  return GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
}

class Credentials final : public grpc::ServerCredentials {
 public:
  explicit Credentials(const ListenerTls& tls)
      : tls_(tls),
        credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(RequestType(tls.config().client_auth),
                                                                            &Fetch, this))) {}
  ~Credentials() override { grpc_server_credentials_release(credentials_); }

  // Who may do what is decided by the policy, not here.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  static grpc_ssl_certificate_config_reload_status Fetch(void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<Credentials*>(self)->FetchNew(config);
  }

  grpc_ssl_certificate_config_reload_status FetchNew(grpc_ssl_server_certificate_config** config) {
    const ListenerTls::Loaded loaded = tls_.Current();
    if (loaded.version == version_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    version_ = loaded.version;
    const TlsFiles& files = *loaded.files;
    const grpc_ssl_pem_key_cert_pair pair = {files.key().c_str(), files.certificates().c_str()};
    // gRPC ends the program where there are no roots, even if it is to ask for no certificate; then these are not used.
    const std::string& roots = files.client_ca().empty() ? files.certificates() : files.client_ca();
    *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const ListenerTls& tls_;
  grpc_server_credentials* const credentials_;
  // Of the files that gRPC has; under the lock of gRPC's port.
  uint64_t version_ = 0;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> ReloadingCredentials(const ListenerTls& tls) {
  return std::make_shared<Credentials>(tls);
}

}  // namespace sideband::daemon
