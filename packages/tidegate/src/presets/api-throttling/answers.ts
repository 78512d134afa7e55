/** What goes back instead of the app's answer. Byte for byte as printed, but for `Retry-After` and `WWW-Authenticate`. */
export interface PrintedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const badRequest: PrintedAnswer = answer(400, "Bad Request");

/** Of the gem; a 401 without a challenge would be no valid answer. */
export const authorizationRequired: PrintedAnswer = answer(401, "Authorization Required", {
  "WWW-Authenticate": 'Basic realm="API"',
});

export function overRateLimit(retryAfterSeconds: number): PrintedAnswer {
  return answer(503, "Over Rate Limit", { "Retry-After": String(retryAfterSeconds) });
}

function answer(status: number, body: string, further: Record<string, string> = {}): PrintedAnswer {
  return {
    status,
    headers: { "Content-Type": "text/plain", "Content-Length": String(body.length), ...further },
    body,
  };
}
