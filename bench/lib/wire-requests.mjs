// What is sent over the wire, and what comes back.
import { BODY } from "./settings.mjs";

const HEAD = [
  "Host: api.example.com",
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  "Accept: application/json",
  "Accept-Language: en-US,en;q=0.5",
  "Accept-Encoding: gzip, deflate, br",
  "Cookie: session=5f1d7e0c9b3a4d28",
];

export const LARGE_BODY = "0123456789abcdef".repeat(625);

export const QUESTION = JSON.stringify({
  subject: { ip: "203.0.113.7", method: "GET", host: "api.example.com", path: "/api/items" },
});
/** As long as Tidegate's answer to that question, give or take a few digits. */
export const DECISION_BYTES = 700;

function request(line, head, body = "") {
  const length = body === "" ? [] : [`Content-Length: ${body.length}`];
  return [line, ...head, ...length, "", body].join("\r\n");
}

/** By the names `flood` and `pace` take. */
export const requests = {
  get: request("GET /api/items?page=2 HTTP/1.1", HEAD),
  post: request(
    "POST /api/items HTTP/1.1",
    [...HEAD, "Content-Type: application/json"],
    `{"text":"${"x".repeat(989)}"}`,
  ),
  decide: request(
    "POST /v1/decide HTTP/1.1",
    ["Host: 127.0.0.1", "Content-Type: application/json", "Accept: application/json"],
    QUESTION,
  ),
};

export const answers = { get: BODY, post: LARGE_BODY };

/** The same GET from the i-th of many clients, as a proxy in front tells it. Good for 16 million of them. */
export const getFrom = (i) =>
  requests.get.replace("\r\n", `\r\nX-Forwarded-For: 20.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}\r\n`);
