// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "daemon/base/body.h"
#include "daemon/base/clock.h"
#include "daemon/config/config.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/exposition/device_frame.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/http/http_exchange.h"
#include "daemon/http/http_message.h"
#include "daemon/http/http_server.h"
#include "daemon/http/http_session.h"
#include "daemon/http/queries.h"
#include "daemon/http/site.h"
#include "daemon/identity/identity.h"
#include "daemon/listen/connection_table.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/page/status_page.h"
#include "daemon/view/reader.h"
#include "proto/base/status_macros.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {
namespace {

void Write(const std::string& header, const Body& body);
void Close();

void UseFakeHttpClient(const std::unique_ptr<HttpServer>& server, const FakeCa& ca,
                       const CertificateFiles& certificate) {
  //@ daemon/http/fake_http_client.h
}

void UseHttpExchange(const Credentials& credentials, const HttpHandler& handler, absl::string_view bytes) {
  //@ daemon/http/http_exchange.h
}

void UseHttpMessage() {
  //@ daemon/http/http_message.h
}

absl::Status UseHttpServer(const Config& config, const HttpHandler& handler,
                           const std::unique_ptr<SelfMetrics>& metrics) {
  //@ daemon/http/http_server.h
  return absl::OkStatus();
}

void UseHttpSession(ConnectionTable::Id id, boost::asio::ip::tcp::socket socket,
                    std::shared_ptr<boost::asio::ssl::context> tls,
                    boost::asio::local::stream_protocol::socket local_socket, uint32_t user,
                    HttpSessionContext context) {
  //@ daemon/http/http_session.h
}

absl::Status UseScrapeQuery(const HttpRequest& request) {
  //@ daemon/http/queries.h
  return absl::OkStatus();
}

void Audit(const HttpRequest& request);

absl::Status UseSite(Reader& reader, const std::unique_ptr<SelfMetrics>& metrics, const Clock& clock,
                     PageData& page_data, const TargetList& targets, const HttpServer::Options& options) {
  //@ daemon/http/site.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
