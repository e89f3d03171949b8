// SPDX-License-Identifier: Apache-2.0
// Drives Chromium for browser.py: reads one JSON command a line, answers one JSON line: {"result"} or {"error"}.
//   node browser_driver.mjs PLAYWRIGHT

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const { chromium } = createRequire(import.meta.url)(process.argv[2]);
const kChromium = '/usr/bin/chromium';
// Chromium must reach nothing but the page under test.
const kArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const kTimeoutMs = 30000;

let browser;
let context;
let page;
let complaints = [];

function listen() {
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
}

const commands = {
  async open({ origin, certificate, scheme, width, height, locale }) {
    if (context) await context.close();
    context = await browser.newContext({
      ignoreHTTPSErrors: true,
      colorScheme: scheme,
      locale,
      viewport: { width, height },
      clientCertificates: [{ origin, certPath: `${certificate}.pem`, keyPath: `${certificate}.key` }],
    });
    context.setDefaultTimeout(kTimeoutMs);
    page = await context.newPage();
    complaints = [];
    listen();
    const response = await page.goto(`${origin}/`);
    return response.status();
  },
  complaints: async () => complaints,
  text: ({ selector }) => page.locator(selector).allInnerTexts(),
  wait: ({ selector }) => page.waitForSelector(selector).then(() => true),
  click: ({ selector }) => page.click(selector),
  fill: ({ selector, text }) => page.fill(selector, text),
  select: ({ selector, value }) => page.selectOption(selector, value),
  press: ({ key }) => page.keyboard.press(key),
  evaluate: ({ script }) => page.evaluate(script),
  offline: ({ offline }) => context.setOffline(offline),
  resize: ({ width, height }) => page.setViewportSize({ width, height }),
  screenshot: ({ path }) => page.screenshot({ path, fullPage: true }),
};

async function answer(line) {
  try {
    const { command, ...parameters } = JSON.parse(line);
    return { result: (await commands[command](parameters)) ?? null };
  } catch (error) {
    return { error: String(error) };
  }
}

browser = await chromium.launch({ executablePath: kChromium, args: kArguments });
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
}
await browser.close();
