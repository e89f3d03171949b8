// SPDX-License-Identifier: Apache-2.0
//
// A request and its answer, as far as the handler is concerned.
#ifndef SIDEBAND_DAEMON_HTTP_HTTP_MESSAGE_H_
#define SIDEBAND_DAEMON_HTTP_HTTP_MESSAGE_H_

#include <functional>
#include <string>

#include "daemon/authz/credentials.h"
#include "daemon/base/body.h"

namespace sideband::daemon {

struct HttpRequest {
  std::string method;
  std::string target;  // path and query, as sent
  std::string accept;
  std::string accept_encoding;
  Credentials credentials;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string content_encoding;  // empty: none
  std::string identity;          // of whoever asked, where they had to be somebody and are; it is not sent
  Body body;
};

// Must be thread-safe and must not block.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_HTTP_MESSAGE_H_
