// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/listener_config.h"

#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "daemon/config/config_context.h"
#include "proto/base/file.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

bool IsLiteral(int family, const std::string& host) {
  in6_addr address;  // large enough for both families
  return inet_pton(family, host.c_str(), &address) == 1;
}

absl::Status Malformed(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' is not ADDRESS:PORT with an address in numbers, such as 127.0.0.1:9877, 0.0.0.0:9877 or [::1]:0"));
}

// SimpleAtoi also accepts signs and blanks, which are invalid here.
bool ParsePort(absl::string_view text, uint16_t& port) {
  uint32_t value = 0;
  if (text.find_first_not_of("0123456789") != absl::string_view::npos) return false;
  if (!absl::SimpleAtoi(text, &value) || value > 65535) return false;
  port = static_cast<uint16_t>(value);
  return true;
}

// Large enough for a group with many members.
constexpr size_t kEntryBytesMax = 1 << 20;

// The largest value is reserved: (uid_t)-1 means "no id" in system calls.
std::optional<uint32_t> Number(const std::string& text) {
  uint32_t value = 0;
  if (text.find_first_not_of("0123456789") != std::string::npos || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  if (value == std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return value;
}

absl::Status Unknown(const char* kind, const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", name, "' is unknown"));
}

constexpr size_t kCertificateBytesMax = 1 << 20;

// The capacity of sockaddr_un without the terminating zero.
constexpr size_t kUnixPathBytesMax = 107;
constexpr absl::Duration kAgeMin = absl::Seconds(1), kAgeMax = absl::Hours(24 * 30);

// Clients without a certificate are accepted only if they can be authenticated by a token.
absl::StatusOr<ClientAuth> ClientAuthOf(const YamlMap& map, bool has_tokens) {
  const auto node = map.Find("client_auth_type");
  if (!node) return ClientAuth::kRequireAndVerify;
  SIDEBAND_ASSIGN_OR_RETURN(const ClientAuth auth,
                            OneOf<ClientAuth>(*node, {{"RequireAndVerifyClientCert", ClientAuth::kRequireAndVerify},
                                                      {"VerifyClientCertIfGiven", ClientAuth::kVerifyIfGiven},
                                                      {"NoClientCert", ClientAuth::kNone}}));
  if (auth == ClientAuth::kRequireAndVerify || has_tokens) return auth;
  return node->Error("a listener without mutual TLS is refused: no tokens are configured");
}

// Refuses a private key where a certificate is wanted, and wipes what was read of it. For cert_file this comes before
// the modes of key_file, which is then the certificate and open to others.
absl::Status CheckNoKey(const YamlNode& node, const std::string& cert_file, const char* guess) {
  auto pem = ReadFile(cert_file, kCertificateBytesMax);
  const bool is_key = pem.ok() && absl::StrContains(*pem, "PRIVATE KEY-----") &&
                      !absl::StrContains(*pem, "-----BEGIN CERTIFICATE-----");
  if (!is_key) return absl::OkStatus();
  OPENSSL_cleanse(pem->data(), pem->size());
  return node.Error(absl::StrCat(cert_file, ": a private key, not a certificate", guess));
}

std::string ClientCa(const YamlMap& map, const TlsServerConfig& tls, const ConfigContext& context) {
  const auto named = map.Find("client_ca_file");
  const bool is_mutual = tls.client_auth != ClientAuth::kNone;
  if (named && is_mutual) {
    std::string file = context.ReadableFile(map, "client_ca_file", FileTrust::kNotWritable);
    return file.empty() || context.errors.Add(CheckNoKey(*named, file, "")) ? file : "";
  }
  if (is_mutual) {
    context.errors.Add(map.node().Error("a listener without mutual TLS is refused: client_ca_file is missing"));
  } else if (named) {
    context.errors.Add(named->Error("client_ca_file has no effect: NoClientCert requests no certificate"));
  }
  return "";
}

TlsServerConfig Tls(const YamlNode& node, bool has_tokens, const ConfigContext& context) {
  TlsServerConfig tls;
  const auto map =
      node.Map({"cert_file", "key_file", "client_ca_file", "client_auth_type", "min_version"}, context.errors);
  if (!map) return tls;
  context.errors.Take(ClientAuthOf(*map, has_tokens), tls.client_auth);
  tls.cert_file = context.ReadableFile(*map, "cert_file", FileTrust::kNotWritable);
  constexpr char kSwapped[] = ": are cert_file and key_file swapped?";
  if (!tls.cert_file.empty() && !context.errors.Add(CheckNoKey(*map->Find("cert_file"), tls.cert_file, kSwapped))) {
    return tls;
  }
  tls.key_file = context.ReadableFile(*map, "key_file", FileTrust::kPrivate);
  tls.client_ca_file = ClientCa(*map, tls, context);
  context.errors.Take(
      OneOfOr(*map, "min_version", tls.min_version, {{"TLS12", TlsVersion::kTls12}, {"TLS13", TlsVersion::kTls13}}),
      tls.min_version);
  return tls;
}

absl::StatusOr<std::string> UnixSocket(const YamlMap& map, const ConfigContext& context) {
  const auto node = map.Find("unix_socket");
  if (!node) return "";
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node->String());
  std::string path = context.Resolve(text);
  if (path.size() <= kUnixPathBytesMax) return path;
  return node->Error(absl::StrCat("the path of a Unix socket has at most ", kUnixPathBytesMax, " bytes"));
}

absl::StatusOr<ListenAddress> Address(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  auto address = ListenAddress::Parse(text);
  if (!address.ok()) return node.Locate(address.status());
  return address;
}

ListenerConfig Listener(const YamlMap& map, const ListenAddress& otherwise, bool has_tokens,
                        const ConfigContext& context) {
  ListenerConfig listener{.listen = otherwise};
  const auto listen = map.Find("listen"), tls = map.Find("tls_server_config");
  if (listen) context.errors.Take(Address(*listen), listener.listen);
  context.errors.Take(UnixSocket(map, context), listener.unix_socket);
  context.errors.Take(map.DurationOr("max_connection_age", listener.max_connection_age, kAgeMin, kAgeMax),
                      listener.max_connection_age);
  // The network is the default; a section with only `unix_socket` has no network listener.
  listener.on_network = listen || tls || !map.Find("unix_socket");
  if (!listener.on_network) return listener;
  if (tls) {
    listener.tls = Tls(*tls, has_tokens, context);
  } else {
    context.errors.Add(map.node().Error("a listener without mutual TLS is refused: tls_server_config is missing"));
  }
  return listener;
}

// Reports a missing section as an error.
std::optional<YamlMap> Required(const YamlMap& root, const std::string& key,
                                std::initializer_list<absl::string_view> keys, const ConfigContext& context) {
  context.errors.Add(root.Get(key).status());
  return context.Section(root, key, keys);
}

constexpr size_t kPemBytesMax = 1 << 20;

absl::StatusOr<std::string> ReadPem(const std::string& path, FileTrust trust) {
  auto pem = ReadFile(path, kPemBytesMax, trust);
  // Every failure is an error of the configuration, whatever its original code.
  if (!pem.ok()) return absl::InvalidArgumentError(pem.status().message());
  return pem;
}

// Returns at least one certificate. A malformed block after it is an error, so that a truncated file is not accepted.
absl::StatusOr<std::vector<CertificatePtr>> ParseCertificates(const std::string& pem, const std::string& path) {
  const BioPtr reader = MemoryReader(pem);
  std::vector<CertificatePtr> certificates;
  ERR_clear_error();
  while (CertificatePtr next = ReadCertificate(reader.get())) certificates.push_back(std::move(next));
  if (certificates.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": not a certificate in PEM form"));
  // The end of the text is the only good reason to stop.
  if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) return certificates;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": certificate ", certificates.size() + 1, " is not one in PEM form"));
}

absl::Status CheckKey(EVP_PKEY* key, const TlsServerConfig& config, X509* certificate) {
  if (X509_check_private_key(certificate, key) == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(config.key_file, ": not the key of the certificate in ", config.cert_file));
}

// Applies OpenSSL's policy, which it otherwise checks only when a certificate is put to use.
absl::Status CheckPolicy(X509* certificate, const std::string& path) {
  const SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (SSL_CTX_use_certificate(context.get(), certificate) == 1) return absl::OkStatus();
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", reason == nullptr ? "cannot be used" : reason));
}

// Errors left in OpenSSL's per-thread queue would be attributed to the next caller.
struct ErrorQueueCleaner {
  ~ErrorQueueCleaner() { ERR_clear_error(); }
};

constexpr size_t kKeyFileBytesMax = 64 << 10;

absl::Status FileError(const std::string& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

// Memory from OpenSSL's secure heap, wiped when it is released.
class SecureBuffer {
 public:
  explicit SecureBuffer(size_t size) : data_(static_cast<char*>(OPENSSL_secure_zalloc(size))), size_(size) {}
  ~SecureBuffer() { OPENSSL_secure_clear_free(data_, size_); }
  SecureBuffer(const SecureBuffer&) = delete;
  SecureBuffer& operator=(const SecureBuffer&) = delete;

  char* data() const { return data_; }  // nullptr if the heap is full
  size_t size() const { return size_; }

 private:
  char* const data_;
  const size_t size_;
};

absl::StatusOr<size_t> SizeOf(int fd, const std::string& path) {
  struct stat file {};
  if (fstat(fd, &file) != 0) return FileError(path, std::strerror(errno));
  if (static_cast<size_t>(file.st_size) <= kKeyFileBytesMax) return file.st_size;
  return FileError(path, absl::StrCat("larger than ", kKeyFileBytesMax, " bytes"));
}

// Returns the number of bytes read; less than the buffer's size if the file was truncated meanwhile.
size_t ReadInto(int fd, const SecureBuffer& buffer) {
  size_t read_bytes = 0;
  while (read_bytes < buffer.size()) {
    const ssize_t got = read(fd, buffer.data() + read_bytes, buffer.size() - read_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    read_bytes += got;
  }
  return read_bytes;
}

absl::StatusOr<PrivateKey> ReadKey(const std::string& path) {
  const auto file = OpenForReading(path, FileTrust::kPrivate);
  // Every failure is an error of the configuration, whatever its original code.
  if (!file.ok()) return absl::InvalidArgumentError(file.status().message());
  SIDEBAND_ASSIGN_OR_RETURN(const size_t size, SizeOf(file->get(), path));
  const SecureBuffer pem(size + 1);  // an allocation of 0 bytes would return nullptr
  if (pem.data() == nullptr) return FileError(path, "no secure memory is left for it");
  const size_t read_bytes = ReadInto(file->get(), pem);
  KeyPtr key = ReadPrivateKey(MemoryReader({pem.data(), read_bytes}).get());
  ERR_clear_error();
  if (key == nullptr && absl::StrContains(absl::string_view(pem.data(), read_bytes), "ENCRYPTED")) {
    return FileError(path, absl::StrCat("the private key has a passphrase: openssl pkey -in ", path,
                                        " -out NEW.key writes it without"));
  }
  if (key == nullptr) return FileError(path, "not an unencrypted private key in PEM form");
  return PrivateKey(std::move(key));
}

// The keys in use, so that equal keys share one object.
class KeyPool {
 public:
  PrivateKey Share(PrivateKey key) {
    absl::MutexLock lock(&mu_);
    std::erase_if(keys_, [](const std::weak_ptr<EVP_PKEY>& known) { return known.expired(); });
    for (const std::weak_ptr<EVP_PKEY>& known : keys_) {
      PrivateKey shared = known.lock();
      if (shared != nullptr && EVP_PKEY_eq(shared.get(), key.get()) == 1) return shared;
    }
    keys_.push_back(key);
    return key;
  }

 private:
  absl::Mutex mu_;
  std::vector<std::weak_ptr<EVP_PKEY>> keys_ ABSL_GUARDED_BY(mu_);
};

KeyPool& Pool() {
  static KeyPool& pool = *new KeyPool;
  return pool;
}

}  // namespace

absl::StatusOr<ListenAddress> ListenAddress::Parse(absl::string_view text) {
  const size_t colon = text.rfind(':');
  ListenAddress address;
  if (colon == absl::string_view::npos || !ParsePort(text.substr(colon + 1), address.port)) return Malformed(text);
  absl::string_view host = text.substr(0, colon);
  const bool bracketed = absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  address.host = std::string(host);
  if (!IsLiteral(bracketed ? AF_INET6 : AF_INET, address.host)) return Malformed(text);
  return address;
}

std::string ListenAddress::ToString() const {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

absl::StatusOr<uint32_t> UserId(const std::string& name) {
  if (const auto number = Number(name)) return *number;
  std::string room(kEntryBytesMax, '\0');
  passwd entry{};
  passwd* found = nullptr;
  getpwnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr) return Unknown("user", name);
  return found->pw_uid;
}

absl::StatusOr<uint32_t> GroupId(const std::string& name) {
  if (const auto number = Number(name)) return *number;
  std::string room(kEntryBytesMax, '\0');
  group entry{};
  group* found = nullptr;
  getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
  if (found == nullptr) return Unknown("group", name);
  return found->gr_gid;
}

GrpcConfig ReadGrpc(const YamlMap& root, bool has_tokens, const ConfigContext& context) {
  GrpcConfig grpc;
  const auto map = Required(
      root, "grpc", {"listen", "tls_server_config", "unix_socket", "reflection", "max_connection_age"}, context);
  if (!map) return grpc;
  grpc.listener = Listener(*map, {"127.0.0.1", 9878}, has_tokens, context);
  context.errors.Take(map->BoolOr("reflection", grpc.reflection), grpc.reflection);
  return grpc;
}

HttpConfig ReadHttp(const YamlMap& root, bool has_tokens, const ConfigContext& context) {
  HttpConfig http;
  const auto map =
      Required(root, "http", {"listen", "tls_server_config", "unix_socket", "redfish", "max_connection_age"}, context);
  if (!map) return http;
  http.listener = Listener(*map, {"127.0.0.1", 9877}, has_tokens, context);
  context.errors.Take(map->BoolOr("redfish", http.redfish), http.redfish);
  return http;
}

absl::StatusOr<std::unique_ptr<TlsFiles>> TlsFiles::Load(const TlsServerConfig& config) {
  const ErrorQueueCleaner cleaner;
  std::unique_ptr<TlsFiles> files(new TlsFiles);
  SIDEBAND_ASSIGN_OR_RETURN(files->certificates_, ReadPem(config.cert_file, FileTrust::kNotWritable));
  SIDEBAND_ASSIGN_OR_RETURN(const auto chain, ParseCertificates(files->certificates_, config.cert_file));
  SIDEBAND_RETURN_IF_ERROR(CheckPolicy(chain[0].get(), config.cert_file));
  files->not_after_ = NotAfter(chain[0].get());
  SIDEBAND_ASSIGN_OR_RETURN(files->key_, LoadPrivateKey(config.key_file));
  SIDEBAND_RETURN_IF_ERROR(CheckKey(files->key_.get(), config, chain[0].get()));
  if (config.client_auth == ClientAuth::kNone) return files;
  SIDEBAND_ASSIGN_OR_RETURN(files->client_ca_, ReadPem(config.client_ca_file, FileTrust::kNotWritable));
  SIDEBAND_RETURN_IF_ERROR(ParseCertificates(files->client_ca_, config.client_ca_file).status());
  return files;
}

void CheckTlsFiles(const TlsServerConfig& config, ErrorList& errors) {
  const absl::Status loaded = TlsFiles::Load(config).status();
  errors.Add(loaded);
  if (config.client_auth == ClientAuth::kNone) return;
  // Load() stops at the first error and may not have read the client CA file.
  const auto pem = ReadPem(config.client_ca_file, FileTrust::kNotWritable);
  const absl::Status authority = pem.ok() ? ParseCertificates(*pem, config.client_ca_file).status() : pem.status();
  if (authority != loaded) errors.Add(authority);
}

absl::StatusOr<PrivateKey> LoadPrivateKey(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(PrivateKey key, ReadKey(path));
  return Pool().Share(std::move(key));
}

}  // namespace sideband::daemon
