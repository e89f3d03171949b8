// SPDX-License-Identifier: Apache-2.0
//
// The requests and answers of one connection, fed with bytes: no socket, no TLS, no clock.
//   HttpExchange exchange(credentials, handler);
//   exchange.Feed(bytes);
//   while (const auto answer = exchange.Next()) { Write(answer->header, answer->body); if (!answer->keep_alive)
//   Close(); }
#ifndef SIDEBAND_DAEMON_HTTP_HTTP_EXCHANGE_H_
#define SIDEBAND_DAEMON_HTTP_HTTP_EXCHANGE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "daemon/http/http_message.h"

namespace sideband::daemon {

inline constexpr size_t kHttpHeaderBytesMax = 8192;
inline constexpr size_t kHttpHeaderFieldsMax = 64;

// Not thread-safe.
class HttpExchange {
 public:
  struct Answer {
    std::string header;       // to its empty line
    Body body;                // empty where none is to be sent
    bool keep_alive = false;  // false: nothing after it counts
    std::string identity;     // of whoever asked, as the handler knows them
  };

  // `handler` must outlive the exchange.
  HttpExchange(Credentials credentials, const HttpHandler& handler);
  ~HttpExchange();

  // Bytes as they come, in any pieces. To be called only after Next() has returned nothing; then at most a header's
  // bytes are kept from before.
  void Feed(absl::string_view bytes);
  // Answers the first request that has not been answered; nullopt where it is not complete yet, and after an answer
  // without keep_alive. What cannot be a request is answered, too, and is the last.
  std::optional<Answer> Next();
  // Whether nothing of the next request has come so far.
  bool is_idle() const { return is_idle_; }

 private:
  class Parser;

  Answer Handle();
  Answer Refuse(int status, const char* why);
  Answer Compose(HttpResponse response, bool keep_alive);

  const Credentials credentials_;
  const HttpHandler& handler_;
  std::string buffer_;              // what has come and was not consumed
  std::unique_ptr<Parser> parser_;  // a new one for each request
  size_t header_bytes_ = 0;         // of the request, that the parser has consumed
  bool is_idle_ = true;
  bool is_over_ = false;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_HTTP_EXCHANGE_H_
