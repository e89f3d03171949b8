// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/bmc_connection.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/vector_body.hpp>
#include <cerrno>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "daemon/listen/listener_tls.h"
#include "proto/base/file.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/secret.h"
#include "proto/envelope/secret_access.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;
using Tcp = asio::ip::tcp;
using envelope::Secret;
using envelope::SecretAccess;

// Beast throws for a field that is longer.
constexpr size_t kHeaderMax = 64 << 10;
constexpr size_t kReadBytes = 16 << 10;
constexpr size_t kTargetMax = 8 << 10;
constexpr size_t kSecretMax = 4 << 10;
constexpr size_t kSessionBytesMax = 64 << 10;
constexpr int kRedirectsMax = 3;
constexpr int kInterimsMax = 8;  // answers 1xx before the answer
constexpr absl::Duration kRetryAfterMax = absl::Hours(1);

// Wipes what it frees: the answer to a login has the token.
template <typename T>
struct WipingAllocator {
  using value_type = T;
  WipingAllocator() = default;
  template <typename Other>
  // NOLINTNEXTLINE(google-explicit-constructor): required of an allocator.
  WipingAllocator(const WipingAllocator<Other>&) {}
  T* allocate(size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* items, size_t count) {
    OPENSSL_cleanse(items, count * sizeof(T));
    std::allocator<T>().deallocate(items, count);
  }
  template <typename Other>
  bool operator==(const WipingAllocator<Other>&) const {
    return true;
  }
};

using AnswerBuffer = boost::beast::basic_flat_buffer<WipingAllocator<char>>;
using AnswerParser = http::response_parser<http::vector_body<char, WipingAllocator<char>>, WipingAllocator<char>>;
using AnswerMessage = AnswerParser::value_type;

absl::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }
absl::string_view View(const Secret& secret) {
  const ByteSpan bytes = secret.Read(SecretAccess::Get());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
absl::string_view BodyOf(const AnswerMessage& message) { return {message.body().data(), message.body().size()}; }

// Neither spaces nor control characters, so that no text can add a line to a request.
bool IsPlain(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isgraph(c); });
}

bool IsPath(absl::string_view text) {
  return absl::StartsWith(text, "/") && text.size() <= kTargetMax && IsPlain(text);
}

Secret Joined(std::initializer_list<absl::string_view> pieces) {
  size_t size = 0;
  for (const absl::string_view piece : pieces) size += piece.size();
  Secret joined(size);
  auto out = joined.Write(SecretAccess::Get()).begin();
  for (const absl::string_view piece : pieces) out = std::copy(piece.begin(), piece.end(), out);
  return joined;
}

// The inside of a JSON string.
Secret JsonEscaped(absl::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto is_escaped = [](unsigned char c) { return c < 0x20 || c == '"' || c == '\\'; };
  Secret escaped(text.size() + 5 * static_cast<size_t>(std::count_if(text.begin(), text.end(), is_escaped)));
  auto out = escaped.Write(SecretAccess::Get()).begin();
  for (const unsigned char c : text) {
    if (!is_escaped(c)) {
      *out++ = c;
      continue;
    }
    for (const char escape : {'\\', 'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]}) *out++ = escape;
  }
  return escaped;
}

// The file without its last newline, and without copies in other memory. FAILED_PRECONDITION starts with the path.
absl::StatusOr<Secret> ReadSecret(const std::string& path) {
  const auto file = OpenForReading(path, FileTrust::kSecret);
  if (!file.ok()) return absl::FailedPreconditionError(file.status().message());
  Secret text(kSecretMax + 1);
  const std::span<uint8_t> bytes = text.Write(SecretAccess::Get());
  size_t size = 0;
  ssize_t read = 1;
  while (read != 0 && size < bytes.size()) {
    read = ::read(file->get(), bytes.data() + size, bytes.size() - size);
    if (read < 0 && errno != EINTR) return absl::FailedPreconditionError(ErrnoStatus(errno, path).message());
    size += static_cast<size_t>(std::max<ssize_t>(read, 0));
  }
  if (size > kSecretMax) return absl::FailedPreconditionError(absl::StrCat(path, ": is larger than 4096 bytes"));
  if (size > 0 && bytes[size - 1] == '\n') --size;
  if (size > 0 && bytes[size - 1] == '\r') --size;
  if (size == 0) return absl::FailedPreconditionError(absl::StrCat(path, ": is empty"));
  return Secret::CopyOf(bytes.first(size));
}

// Replaces OpenSSL's verification where a key is pinned.
int VerifyPin(X509_STORE_CTX* verified, void* pin) {
  const X509* const own = X509_STORE_CTX_get0_cert(verified);
  unsigned char* der = nullptr;
  const int size = own == nullptr ? -1 : i2d_X509_PUBKEY(X509_get_X509_PUBKEY(own), &der);
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest{};
  if (size > 0) SHA256(der, static_cast<size_t>(size), digest.data());
  OPENSSL_free(der);
  const bool is_pinned = size > 0 && CRYPTO_memcmp(digest.data(), pin, digest.size()) == 0;
  X509_STORE_CTX_set_error(verified, is_pinned ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
  return is_pinned ? 1 : 0;
}

// `options` must outlive the context.
absl::StatusOr<SslContextPtr> MakeContext(const BmcConnection::Options& options) {
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return absl::ResourceExhaustedError("TLS: no memory");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context.get(), SSL_OP_CLEANSE_PLAINTEXT | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  EndAtKeyUpdates(*context);
  if (options.pin) {
    SSL_CTX_set_cert_verify_callback(context.get(), VerifyPin, const_cast<uint8_t*>(options.pin->data()));
    return context;
  }
  const auto roots = LoadCertificates(options.ca_file);
  if (!roots.ok()) return absl::FailedPreconditionError(roots.status().message());
  for (const CertificatePtr& root : *roots) X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), root.get());
  return context;
}

// False where OpenSSL does not take the host as what the certificate must name.
bool SetHost(SSL* ssl, const std::string& host, bool is_address) {
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl);
  if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) == 1 &&
         SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

absl::Status CertificateStatus(long error, const BmcConnection::Options& options) {
  switch (error) {
    case X509_V_ERR_APPLICATION_VERIFICATION:
      return absl::FailedPreconditionError("the certificate's key is not the one of pin_sha256");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return absl::FailedPreconditionError(absl::StrCat("the certificate's name is not ", options.host));
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return absl::FailedPreconditionError("the certificate has expired");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return absl::FailedPreconditionError("the certificate is not valid yet");
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return absl::FailedPreconditionError(
          absl::StrCat("the certificate is not signed by the CA in ", options.ca_file));
    default:
      return absl::FailedPreconditionError(absl::StrCat("the certificate: ", X509_verify_cert_error_string(error)));
  }
}

absl::Status AnswerStatus(const ErrorCode& error) {
  if (error == http::error::header_limit) return absl::DataLossError("the answer's header is larger than 64 KiB");
  if (error == http::error::body_limit) return absl::DataLossError("the answer is larger than 4 MiB");
  if (error == http::error::partial_message) return absl::DataLossError("the answer ends early");
  return absl::DataLossError(absl::StrCat("the answer is not HTTP: ", error.message()));
}

absl::Status CheckCoding(const AnswerMessage& message) {
  const auto content = View(message[http::field::content_encoding]);
  if (!content.empty() && !absl::EqualsIgnoreCase(content, "identity")) {
    return absl::DataLossError("the answer is compressed");
  }
  // Beast reads a body of another coding until the connection ends.
  const auto transfer = View(message[http::field::transfer_encoding]);
  if (transfer.empty() || absl::EqualsIgnoreCase(transfer, "chunked")) return absl::OkStatus();
  return absl::DataLossError("the answer has an unknown transfer coding");
}

std::optional<absl::Time> DateOf(absl::string_view text) {
  absl::Time time;
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", text, &time, nullptr)) return std::nullopt;
  return time;
}

// A date counts from the answer's own: the BMC's clock may be years behind.
std::optional<absl::Duration> RetryAfterOf(const AnswerMessage& message) {
  if (message.result_int() != 429 && message.result_int() != 503) return std::nullopt;
  const absl::string_view text = View(message[http::field::retry_after]);
  if (!text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit)) {
    uint32_t seconds = 0;
    return absl::SimpleAtoi(text, &seconds) ? std::min(absl::Seconds(seconds), kRetryAfterMax) : kRetryAfterMax;
  }
  const auto then = DateOf(text), now = DateOf(View(message[http::field::date]));
  if (!then || !now) return std::nullopt;
  return std::clamp(*then - *now, absl::ZeroDuration(), kRetryAfterMax);
}

// The "@odata.id" of a session; empty where it has none.
std::string SessionIdOf(absl::string_view body) {
  if (body.size() > kSessionBytesMax) return "";
  const auto json = nlohmann::json::parse(body.begin(), body.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "";
  const auto id = json.find("@odata.id");
  return id != json.end() && id->is_string() ? id->get<std::string>() : "";
}

bool IsRedirect(int code) { return code == 301 || code == 302 || code == 307 || code == 308; }

// An answer that is arriving.
class Arrival {
 public:
  Arrival() { Restart(); }

  // Awaits a further message: after an answer 1xx.
  void Restart() {
    parser_.emplace();
    parser_->header_limit(kHeaderMax);
    parser_->body_limit(BmcConnection::kBodyMax);
  }
  // Where to read into; empty where a line of chunks, or what follows them, is as large as no header may be.
  asio::mutable_buffer Space() { return buffer_.prepare(std::min(kReadBytes, buffer_.max_size() - buffer_.size())); }
  void Add(size_t size) {
    buffer_.commit(size);
    has_begun_ |= size > 0;
  }
  // Parses what there is, up to the end of the message.
  ErrorCode Parse() {
    ErrorCode error;
    while (!error && !parser_->is_done() && buffer_.size() > 0 && !IsSplitEnd()) {
      const bool is_header = !parser_->is_header_done();
      const size_t used = parser_->put(buffer_.cdata(), error);
      buffer_.consume(used);
      const bool needs_more = error == http::error::need_more;
      if (is_header) header_bytes_ += used;
      // The parser's limit begins anew where a read ends with a field.
      if (header_bytes_ + (is_header && needs_more ? buffer_.size() : 0) > kHeaderMax) return http::error::header_limit;
      if (needs_more) return {};
    }
    return error;
  }
  // The peer has ended the connection in order.
  ErrorCode End() {
    ErrorCode error = asio::error::eof;
    if (parser_->got_some()) parser_->put_eof(error);
    return error;
  }

  const AnswerParser& parser() const { return *parser_; }
  bool has_begun() const { return has_begun_; }
  bool has_more() const { return buffer_.size() > 0; }
  bool IsOneInterimTooMany() { return ++interims_ > kInterimsMax; }

 private:
  // Beast 1.81 asserts that one more byte has come with the second byte after "0\r\n".
  bool IsSplitEnd() const {
    if (!parser_->is_header_done() || !parser_->chunked() || buffer_.size() != 4) return false;
    return absl::StartsWith({static_cast<const char*>(buffer_.cdata().data()), 4}, "0\r\n");
  }

  AnswerBuffer buffer_{kHeaderMax};
  std::optional<AnswerParser> parser_;
  size_t header_bytes_ = 0;
  int interims_ = 0;
  bool has_begun_ = false;
};

// A connection by TCP and TLS, and the answer that is arriving on it.
struct TlsConnection {
  TlsConnection(const asio::any_io_executor& executor, SslContextPtr tls)
      : context(tls.release()), resolver(executor), stream(executor, context) {}

  // Whether the peer has closed the connection, or sent what no request has asked for.
  bool IsStale() {
    SSL* const ssl = stream.native_handle();
    if (SSL_get_shutdown(ssl) != 0 || SSL_has_pending(ssl) != 0 || BIO_ctrl_pending(SSL_get_rbio(ssl)) > 0) return true;
    char byte = 0;
    const ssize_t size = ::recv(stream.next_layer().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return size >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }
  void Close() {
    ErrorCode ignored;
    resolver.cancel();
    stream.next_layer().close(ignored);
  }

  asio::ssl::context context;
  Tcp::resolver resolver;
  asio::ssl::stream<Tcp::socket> stream;
  std::unique_ptr<Arrival> arrival;  // of the request under way
  bool has_answered = false;
};

}  // namespace

// An operation keeps both this object and its link. It does nothing once the link is no longer the current one.
class BmcConnection::Impl final : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::any_io_executor executor, Options options)
      : options_(std::move(options)),
        host_(absl::StrContains(options_.host, ':') ? absl::StrCat("[", options_.host, "]") : options_.host),
        authority_(options_.port == 443 ? host_ : absl::StrCat(host_, ":", options_.port)),
        executor_(std::move(executor)),
        deadline_(executor_) {}

  void Ask(BmcRequest request, std::function<void(BmcAnswer)> done) {
    if (done_ != nullptr) return Refuse(std::move(done));
    done_ = std::move(done);
    if (is_closed_) return Finish({.status = absl::CancelledError("the connection was closed")});
    request_ = std::move(request);
    redirects_ = sent_ = 0;
    may_retry_ = request_.method == BmcRequest::Method::kGet;
    deadline_.expires_after(absl::ToChronoNanoseconds(options_.timeout));
    deadline_.async_wait([self = shared_from_this(), turn = turn_](ErrorCode) {
      if (turn == self->turn_) self->OnDeadline();
    });
    if (absl::Status status = Begin(); !status.ok()) Finish({.status = std::move(status)});
  }

  bool has_session() const { return token_.size() > 0; }

  void Close() {
    is_closed_ = true;
    Forget();
    Fail(absl::CancelledError("the connection was closed"));
  }

  void Abort() {
    if (done_ != nullptr) Fail(absl::CancelledError("the request was aborted"));
  }

  void Abandon() {
    is_abandoned_ = true;
    done_ = nullptr;
    Close();
  }

 private:
  void Refuse(std::function<void(BmcAnswer)> done) {
    asio::post(executor_, [self = shared_from_this(), done = std::move(done)] {
      if (!self->is_abandoned_) done({.status = absl::InternalError("a request is under way")});
    });
  }

  absl::Status Begin() {
    if (request_.method == BmcRequest::Method::kLogOut) return LogOut();
    const bool is_login = request_.method == BmcRequest::Method::kLogIn;
    if (is_login) Forget();
    if (is_login && !options_.session_token_file.empty()) return TakeToken();
    const std::string path = WithPrefix(request_.target);
    if (!IsPlain(authority_)) return absl::InvalidArgumentError("the host has a space or a control character");
    if (!IsPath(path)) {
      return absl::InvalidArgumentError("the target is not a path, or has a space or a control character");
    }
    if (is_login) return LogIn(path);
    Send(TextOf("GET", path));
    return absl::OkStatus();
  }

  absl::Status LogIn(absl::string_view path) {
    SIDEBAND_ASSIGN_OR_RETURN(const Secret password, ReadSecret(options_.password_file));
    const Secret name = JsonEscaped(options_.user), escaped = JsonEscaped(View(password));
    Send(TextOf("POST", path, Joined({R"({"UserName":")", View(name), R"(","Password":")", View(escaped), R"("})"})));
    return absl::OkStatus();
  }

  absl::Status TakeToken() {
    SIDEBAND_ASSIGN_OR_RETURN(Secret token, ReadSecret(options_.session_token_file));
    if (!IsPlain(View(token))) {
      return absl::FailedPreconditionError(absl::StrCat(options_.session_token_file, ": is not a token"));
    }
    token_ = std::move(token);
    Finish({.code = 200});
    return absl::OkStatus();
  }

  absl::Status LogOut() {
    std::optional<Secret> text;
    if (!session_.empty()) text = TextOf("DELETE", session_);
    Forget();
    text ? Send(*std::move(text)) : Finish({.code = 204});
    return absl::OkStatus();
  }

  void Forget() {
    token_.Wipe();
    session_.clear();
  }

  // Built by hand: Beast's fields would leave copies of the secrets.
  Secret TextOf(absl::string_view method, absl::string_view path, const Secret& body = {}) const {
    const absl::string_view token = View(token_);
    const std::string content =
        body.size() == 0 ? "" : absl::StrCat("Content-Type: application/json\r\nContent-Length: ", body.size(), "\r\n");
    constexpr absl::string_view kFields =
        "\r\nUser-Agent: sidebandd\r\nAccept: application/json\r\nAccept-Encoding: identity\r\nOData-Version: 4.0\r\n";
    return Joined({method, " ", path, " HTTP/1.1\r\nHost: ", authority_, kFields, content,
                   token.empty() ? "" : "X-Auth-Token: ", token, token.empty() ? "" : "\r\n", "\r\n", View(body)});
  }

  void Send(Secret text) {
    ++sent_;
    text_ = std::make_shared<const Secret>(std::move(text));
    if (link_ != nullptr && link_->IsStale()) Drop();
    link_ == nullptr ? Connect() : Write();
  }

  void Connect() {
    auto context = MakeContext(options_);
    if (!context.ok()) return Fail(context.status());
    link_ = std::make_shared<TlsConnection>(executor_, *std::move(context));
    ErrorCode error;
    const auto address = asio::ip::make_address(options_.host, error);
    const bool is_set = SetHost(link_->stream.native_handle(), options_.host, !error);
    if (!is_set && !options_.pin) {
      return Fail(absl::FailedPreconditionError(absl::StrCat("no certificate can name ", options_.host)));
    }
    if (!error) return ConnectTo({Tcp::endpoint(address, options_.port)});
    link_->resolver.async_resolve(
        options_.host, absl::StrCat(options_.port), Tcp::resolver::numeric_service,
        [self = shared_from_this(), link = link_](ErrorCode failed, const Tcp::resolver::results_type& results) {
          if (link == self->link_) self->OnResolved(failed, results);
        });
  }

  void OnResolved(ErrorCode error, const Tcp::resolver::results_type& results) {
    if (error) return Fail(absl::UnavailableError(absl::StrCat(options_.host, ": ", error.message())));
    ConnectTo({results.begin(), results.end()});
  }

  void ConnectTo(const std::vector<Tcp::endpoint>& endpoints) {
    asio::async_connect(link_->stream.next_layer(), endpoints,
                        [self = shared_from_this(), link = link_](ErrorCode error, const Tcp::endpoint&) {
                          if (link == self->link_) self->OnConnected(error);
                        });
  }

  void OnConnected(ErrorCode error) {
    if (error) return Fail(absl::UnavailableError(absl::StrCat("cannot connect: ", error.message())));
    link_->stream.async_handshake(asio::ssl::stream_base::client,
                                  [self = shared_from_this(), link = link_](ErrorCode failed) {
                                    if (link == self->link_) self->OnHandshake(failed);
                                  });
  }

  void OnHandshake(ErrorCode error) {
    if (!error) return Write();
    const long verdict = SSL_get_verify_result(link_->stream.native_handle());
    if (verdict != X509_V_OK) return Fail(CertificateStatus(verdict, options_));
    Fail(absl::UnavailableError(absl::StrCat("no TLS: ", error.message())));
  }

  void Write() {
    link_->arrival = std::make_unique<Arrival>();
    const absl::string_view text = View(*text_);
    asio::async_write(link_->stream, asio::buffer(text.data(), text.size()),
                      [self = shared_from_this(), link = link_, kept = text_](ErrorCode error, size_t) {
                        if (link != self->link_) return;
                        error ? self->OnBroken(error) : self->Read();
                      });
  }

  void Read() {
    const asio::mutable_buffer space = link_->arrival->Space();
    if (space.size() == 0) return Fail(AnswerStatus(http::error::buffer_overflow));
    link_->stream.async_read_some(space, [self = shared_from_this(), link = link_](ErrorCode error, size_t size) {
      if (link == self->link_) self->OnRead(error, size);
    });
  }

  void OnRead(ErrorCode error, size_t size) {
    link_->arrival->Add(size);
    if (error == asio::error::eof) error = link_->arrival->End();
    if (error == http::error::partial_message) return Fail(AnswerStatus(error));
    error ? OnBroken(error) : Parse();
  }

  void Parse() {
    Arrival& arrival = *link_->arrival;
    if (const ErrorCode error = arrival.Parse()) return Fail(AnswerStatus(error));
    if (!arrival.parser().is_done()) return Read();
    if (arrival.parser().get().result_int() / 100 != 1) return OnAnswer();
    // 101 would be another protocol, which no request has asked for.
    if (arrival.parser().get().result_int() == 101 || arrival.IsOneInterimTooMany()) {
      return Fail(absl::DataLossError("the answer is not HTTP: too many or unknown answers 1xx"));
    }
    arrival.Restart();
    Parse();
  }

  // The connection has failed, or ended before an answer.
  void OnBroken(ErrorCode error) {
    const bool has_begun = link_->arrival->has_begun();
    if (link_->has_answered && may_retry_ && !has_begun) {
      may_retry_ = false;
      Drop();
      return Connect();
    }
    const bool is_end = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
    if (is_end && has_begun) return Fail(AnswerStatus(http::error::partial_message));
    Fail(absl::UnavailableError(is_end ? "the BMC has closed the connection without an answer"
                                       : absl::StrCat("the connection failed: ", error.message())));
  }

  void OnAnswer() {
    const std::unique_ptr<const Arrival> arrival = std::move(link_->arrival);
    const AnswerMessage& message = arrival->parser().get();
    link_->has_answered = true;
    // Bytes after the answer belong to no request.
    if (!arrival->parser().keep_alive() || arrival->has_more()) Drop();
    if (absl::Status status = CheckCoding(message); !status.ok()) return Fail(std::move(status));
    const int code = static_cast<int>(message.result_int());
    const bool is_get = request_.method == BmcRequest::Method::kGet;
    if (is_get && IsRedirect(code)) return OnRedirect(View(message[http::field::location]));
    if (request_.method == BmcRequest::Method::kLogIn && (code == 200 || code == 201)) {
      if (absl::Status status = KeepSession(message); !status.ok()) return Fail(std::move(status));
    }
    Finish({.code = code, .body = is_get ? std::string(BodyOf(message)) : "", .retry_after = RetryAfterOf(message)});
  }

  void OnRedirect(absl::string_view location) {
    if (++redirects_ > kRedirectsMax) return Fail(absl::DataLossError("redirects more than three times"));
    const auto path = PathWithin(location);
    if (!path) return Fail(absl::DataLossError("redirects to another origin"));
    Send(TextOf("GET", *path));
  }

  absl::Status KeepSession(const AnswerMessage& message) {
    const absl::string_view token = View(message["X-Auth-Token"]);
    if (token.empty() || token.size() > kSecretMax || !IsPlain(token)) {
      return absl::DataLossError("the login's answer has no token");
    }
    token_ = Joined({token});
    auto path = PathWithin(View(message[http::field::location]));
    if (!path) path = PathWithin(SessionIdOf(BodyOf(message)));
    session_ = path.value_or("");
    return absl::OkStatus();
  }

  // A BMC behind a prefix may know of it or not.
  std::string WithPrefix(absl::string_view path) const {
    const bool has_prefix = absl::StartsWith(path, absl::StrCat(options_.prefix, "/"));
    return absl::StrCat(has_prefix ? "" : options_.prefix, path);
  }

  // The path of a link, which is a path already or a URL; nullopt where it leads to another origin.
  std::optional<std::string> PathWithin(absl::string_view link) const {
    link = link.substr(0, link.find('#'));
    if (absl::StartsWithIgnoreCase(link, "https://")) link.remove_prefix(6);
    if (absl::StartsWith(link, "//")) {
      const absl::string_view authority = link.substr(2, link.find_first_of("/?", 2) - 2);
      const bool is_same = absl::EqualsIgnoreCase(authority, authority_) ||
                           absl::EqualsIgnoreCase(authority, absl::StrCat(host_, ":", options_.port));
      if (!is_same) return std::nullopt;
      link.remove_prefix(2 + authority.size());
    }
    std::string path = WithPrefix(link);
    return absl::StartsWith(link, "/") && IsPath(path) ? std::optional(std::move(path)) : std::nullopt;
  }

  void OnDeadline() {
    Fail(absl::DeadlineExceededError(absl::StrCat("no answer within ", absl::FormatDuration(options_.timeout))));
  }

  void Drop() {
    if (link_ != nullptr) link_->Close();
    link_ = nullptr;
  }

  void Fail(absl::Status status) {
    Drop();
    Finish({.status = std::move(status)});
  }

  void Finish(BmcAnswer answer) {
    ++turn_;
    deadline_.cancel();
    text_ = nullptr;
    answer_ = std::move(answer);
    answer_.requests = sent_;
    if (done_ == nullptr) return;
    asio::post(executor_, [self = shared_from_this(), turn = turn_] {
      // Abort() or Close() may have replaced the answer.
      if (turn != self->turn_) return;
      if (const auto done = std::exchange(self->done_, nullptr)) done(std::move(self->answer_));
    });
  }

  const Options options_;
  const std::string host_, authority_;  // as in a URL
  const asio::any_io_executor executor_;
  asio::steady_timer deadline_;
  uint64_t turn_ = 0;                    // of the request under way, or the next one
  Secret token_;                         // empty: no session
  std::string session_;                  // its path, for the logout; empty: not known, or of a token file
  std::shared_ptr<TlsConnection> link_;  // shared with the operations under way

  // The state of the request under way.
  BmcRequest request_;
  std::function<void(BmcAnswer)> done_;
  std::shared_ptr<const Secret> text_;  // shared with the write under way
  BmcAnswer answer_;                    // until `done_` is called
  int redirects_ = 0;
  int sent_ = 0;
  bool may_retry_ = false;

  bool is_closed_ = false;
  bool is_abandoned_ = false;
};

BmcConnection::BmcConnection(asio::any_io_executor executor, Options options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}

BmcConnection::~BmcConnection() { impl_->Abandon(); }

void BmcConnection::Ask(BmcRequest request, std::function<void(BmcAnswer)> done) {
  impl_->Ask(std::move(request), std::move(done));
}

bool BmcConnection::has_session() const { return impl_->has_session(); }

void BmcConnection::Abort() { impl_->Abort(); }

void BmcConnection::Close() { impl_->Close(); }

}  // namespace sideband::daemon
