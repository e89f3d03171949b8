#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
exec node --test daemon/page/web/page.test.js daemon/page/web/board.test.js
