// SPDX-License-Identifier: Apache-2.0
//
// A request and its answer, as the handler receives and returns them.
//   const HttpHandler handler = [](const HttpRequest& request) -> HttpResponse { return {.body = Body::Of("ok\n")}; };
#ifndef SIDEBAND_DAEMON_HTTP_HTTP_MESSAGE_H_
#define SIDEBAND_DAEMON_HTTP_HTTP_MESSAGE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/identity/identity.h"
#include "daemon/listen/work_queue.h"

namespace sideband::daemon {

struct HttpRequest {
  std::string method;
  std::string target;  // path and query, as sent, not decoded; of a target in absolute form without its host
  std::string host;    // HOST or HOST:PORT, of the field Host or of such a target; empty without one
  std::string accept;
  std::string accept_encoding;
  std::string odata_version;                 // the field OData-Version; empty without one
  std::optional<std::string> session_token;  // the field X-Auth-Token; empty if it is there twice
  Credentials credentials;
};

// Where a response is made that takes more than a moment.
struct HttpWork;

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string content_encoding;  // empty: none
  // The content that a browser may load and run with the answer; by default none.
  std::string content_security_policy = "default-src 'none'";
  std::vector<std::pair<std::string, std::string>> fields;  // more of the header; nothing in them is from a client
  std::string identity;  // of the authenticated caller; empty where none was required; not sent
  Body body;
  std::shared_ptr<const HttpWork>
      work;  // makes the response, which then is nothing but `identity`; nullptr: it is made
};

struct HttpWork {
  WorkQueue::Lane lane = WorkQueue::Lane::kQueries;
  bool is_operator = false;                                   // WorkQueue::Holder::is_operator
  std::function<HttpResponse(const absl::Status& may)> make;  // a response without `work`; see WorkQueue::Work
};

// Must be thread-safe and must not block. What takes more than a moment goes into HttpResponse::work.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_HTTP_MESSAGE_H_
