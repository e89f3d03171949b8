// SPDX-License-Identifier: Apache-2.0
//
// Parses the requests of one connection and composes their answers. Input and output are bytes: no socket, TLS or
// clock.
//   HttpExchange exchange(credentials, handler);
//   exchange.Feed(bytes);
//   while (auto answer = exchange.Next()) {
//     if (answer->work != nullptr) answer = exchange.Complete(answer->work->make(absl::OkStatus()));
//     Write(answer->header, answer->body);
//     if (!answer->keep_alive) Close();
//   }
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
    std::string header;       // including the final empty line
    Body body;                // empty for HEAD
    bool keep_alive = false;  // false: the last answer; close after it
    std::string identity;     // HttpResponse::identity
    // Makes the response: call Complete() with it before Next(). nullptr: the answer is complete.
    std::shared_ptr<const HttpWork> work;
  };

  // `handler` must outlive the exchange.
  HttpExchange(Credentials credentials, const HttpHandler& handler);
  ~HttpExchange();

  // Appends received bytes, in pieces of any size. To be called only after Next() has returned nullopt; at most one
  // header's bytes are then buffered.
  void Feed(absl::string_view bytes);
  // Answers the next request; nullopt where it is incomplete, or after an answer without keep_alive. Malformed input is
  // answered with an error, which is the last answer.
  std::optional<Answer> Next();
  // The answer with the response that Answer::work has made.
  Answer Complete(HttpResponse response);
  // Whether no byte of the next request has arrived.
  bool is_idle() const { return is_idle_; }

 private:
  class Parser;

  void NoteFolds(absl::string_view consumed);
  Answer Handle();
  void NoteRequest();
  Answer Refuse(int status, const char* why);
  Answer Compose(HttpResponse response);

  const Credentials credentials_;
  const HttpHandler& handler_;
  std::string buffer_;              // received, not yet parsed
  std::unique_ptr<Parser> parser_;  // a new one for each request
  size_t header_bytes_ = 0;         // of the current request, parsed
  char last_byte_ = '\0';           // the last of header_bytes_
  bool has_fold_ = false;           // the request is rejected, so never reset
  // The request that is being answered.
  unsigned version_ = 11;
  bool is_head_ = false;
  bool keep_alive_ = false;
  bool is_idle_ = true;
  bool is_over_ = false;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_HTTP_EXCHANGE_H_
