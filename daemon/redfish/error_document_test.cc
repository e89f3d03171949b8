// SPDX-License-Identifier: Apache-2.0
#include "daemon/redfish/error_document.h"

#include <gtest/gtest.h>

#include <string>

namespace sideband::daemon {
namespace {

const nlohmann::json& InfoOf(const RedfishError& error) { return error.document["error"]["@Message.ExtendedInfo"][0]; }

TEST(ErrorDocumentTest, EachCodeHasItsStatusAndMessage) {
  struct Row {
    absl::StatusCode code;
    int http_status;
    const char* id;
  };
  for (const Row& row : {Row{absl::StatusCode::kInvalidArgument, 400, "Base.1.16.GeneralError"},
                         Row{absl::StatusCode::kUnauthenticated, 401, "Base.1.16.NoValidSession"},
                         Row{absl::StatusCode::kPermissionDenied, 403, "Base.1.16.InsufficientPrivilege"},
                         Row{absl::StatusCode::kNotFound, 404, "Base.1.16.ResourceMissingAtURI"},
                         Row{absl::StatusCode::kFailedPrecondition, 412, "Base.1.16.GeneralError"},
                         Row{absl::StatusCode::kOutOfRange, 400, "Base.1.16.QueryParameterOutOfRange"},
                         Row{absl::StatusCode::kUnimplemented, 501, "Base.1.16.QueryNotSupported"},
                         Row{absl::StatusCode::kResourceExhausted, 507, "Base.1.16.GeneralError"},
                         Row{absl::StatusCode::kUnavailable, 503, "Base.1.16.GeneralError"}}) {
    const RedfishError error = RedfishErrorOf(absl::Status(row.code, "Do this."), "/x");
    EXPECT_EQ(error.http_status, row.http_status);
    EXPECT_EQ(error.document["error"]["code"], row.id);
    EXPECT_EQ(InfoOf(error)["MessageId"], row.id);
    EXPECT_EQ(error.document["error"]["message"], InfoOf(error)["Message"]);
  }
}

TEST(ErrorDocumentTest, AnAbsentResourceIsNamedAsItWasAskedFor) {
  const RedfishError error = RedfishErrorOf(absl::NotFoundError("of our own"), "/redfish/v1/Chassis/a%20\"b");
  EXPECT_EQ(InfoOf(error)["Message"], "The resource at the URI '/redfish/v1/Chassis/a%20\"b' was not found.");
  EXPECT_EQ(InfoOf(error)["MessageArgs"], nlohmann::json({"/redfish/v1/Chassis/a%20\"b"}));
  EXPECT_EQ(error.document.dump().find("of our own"), std::string::npos);
}

TEST(ErrorDocumentTest, TheStatusSaysWhatToDo) {
  EXPECT_EQ(InfoOf(RedfishErrorOf(absl::InvalidArgumentError("Give $top once."), "/x"))["Resolution"],
            "Give $top once.");
  EXPECT_NE(InfoOf(RedfishErrorOf(absl::UnauthenticatedError(""), "/x"))["Resolution"], "");
}

TEST(ErrorDocumentTest, AnErrorOfAQueryNamesTheParameter) {
  const RedfishError range =
      RedfishErrorOf(WithMessageArgs(absl::OutOfRangeError("Do this."), {"%2", "$levels", "1"}), "/x");
  EXPECT_EQ(InfoOf(range)["Message"], "The value '%2' for the query parameter $levels is out of range 1.");
  EXPECT_EQ(InfoOf(range)["MessageArgs"], nlohmann::json({"%2", "$levels", "1"}));
  EXPECT_EQ(InfoOf(range)["Resolution"], "Do this.");
  const RedfishError value = RedfishErrorOf(WithMessageArgs(absl::InvalidArgumentError("Do this."), {"$top"}), "/x");
  EXPECT_EQ(value.http_status, 400);
  EXPECT_EQ(InfoOf(value)["MessageId"], "Base.1.16.QueryParameterValueError");
  EXPECT_EQ(InfoOf(value)["Message"], "The value for the parameter $top is invalid.");
  EXPECT_EQ(InfoOf(value)["MessageArgs"], nlohmann::json::array({"$top"}));
}

TEST(ErrorDocumentTest, OtherMethods) {
  EXPECT_EQ(RedfishMethodError().http_status, 405);
  EXPECT_EQ(InfoOf(RedfishMethodError())["MessageId"], "Base.1.16.OperationNotAllowed");
}

}  // namespace
}  // namespace sideband::daemon
