// SPDX-License-Identifier: Apache-2.0
//
// Requests and responses, as the handler receives and returns them, and the exchange of one connection, which parses
// its requests and composes the answers. The exchange takes and gives bytes: it has no socket, TLS or clock.
//   const HttpHandler handler = [](const HttpRequest& request) -> HttpResponse { return {.body = Body::Of("ok\n")}; };
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
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
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
