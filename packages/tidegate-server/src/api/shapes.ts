import { z } from "zod";
import { type Role, roles } from "../data.js";
import { type EdgeMode, edgeModes } from "../edge.js";
import { ApiProblem } from "./api-problem.js";

/** What was sent, found to be of this shape, or a problem that names the place and what to write. */
export function parseAs<Shape extends z.ZodType>(
  shape: Shape,
  value: unknown,
  where: "body" | "query",
): z.output<Shape> {
  const { success, data, error } = shape.safeParse(value);
  if (success) return data;
  const issues = error.issues.slice(0, 5).map((issue) => told(issue, where, shape));
  const [first] = issues as [Told];
  throw new ApiProblem({
    status: 400,
    code: "TG_REQUEST",
    path: first.path,
    detail: issues.map(({ path, words }) => `${path}: ${words}`).join(" "),
  });
}

interface Told {
  readonly path: string;
  readonly words: string;
}

function told(issue: z.core.$ZodIssue, where: string, shape: z.ZodType): Told {
  const path = [where, ...issue.path.map(String)].map((part) => part.slice(0, 60)).join(".");
  if (issue.code !== "unrecognized_keys")
    return { path, words: issue.message.endsWith(".") ? issue.message : `${issue.message}.` };
  const known =
    issue.path.length === 0 && shape instanceof z.ZodObject
      ? ` Known: ${Object.keys(shape.shape).join(", ") || "none"}.`
      : "";
  const names = issue.keys.slice(0, 5).map((key) => JSON.stringify(key.slice(0, 60)));
  return { path, words: `There is no field ${names.join(", ")}.${known}` };
}

const text = (most: number, error: string) => z.string({ error }).max(most, { error });
const someText = (most: number, error: string) => text(most, error).min(1, { error });

const whole = (error: string, most = Number.MAX_SAFE_INTEGER) =>
  z
    .string({ error })
    .regex(/^\d{1,16}$/, { error })
    .transform(Number)
    .refine((number) => number >= 1 && number <= most, { error });

const most = whole("Give a whole number from 1 to 1000", 1000).optional();
const before = whole("Give the `next` of the page before").optional();
const why = text(1000, "Say why in at most 1000 characters").optional();
const version = (error: string) => z.int({ error }).min(1, { error });

export const pageQuery = z.strictObject({ most, before });
export const listQuery = z.strictObject({
  most,
  after: text(100, "Give the `next` of the page before").optional(),
});
export const mostQuery = z.strictObject({ most });

export const noQuery = z.strictObject({});
export const seriesQuery = z.strictObject({
  seconds: whole("Give a whole number of seconds from 1 to 600", 600).optional(),
});
export const clientSeriesQuery = z.strictObject({ ip: someText(64, "Give the client's address") });

const digestWords = "Give a digest, 40 or 64 hexadecimal digits";
const digest = z
  .string({ error: digestWords })
  .regex(/^(?:[0-9a-f]{64}|[0-9a-f]{40})$/i, { error: digestWords })
  .transform((text) => text.toLowerCase());

export const offendersQuery = z.strictObject({
  most,
  after: text(400, "Give the `next` of the page before").optional(),
  ip: someText(64, "Give the client's address").optional(),
  key: digest.optional(),
});

const instant = "Give milliseconds since the epoch, or a time such as 2026-01-31T12:00:00Z";
const time = text(40, instant)
  .transform((given) => (/^\d{1,15}$/.test(given) ? Number(given) : Date.parse(given)))
  .refine((ms) => Number.isFinite(ms), { error: instant })
  .optional();

export const auditQuery = z.strictObject({
  most,
  before,
  who: someText(100, "Give who acted, as the audit names them").optional(),
  what: someText(100, "Give what was done, or how it begins, such as blocklist or policy.").optional(),
  target: someText(1024, "Give what it was done to").optional(),
  since: time,
  until: time,
  format: z.enum(["json", "ndjson", "csv"], { error: "Give json, ndjson or csv" }).optional(),
});
export const undoBody = z.strictObject({
  why,
  force: z.boolean({ error: "Give true or false" }).optional(),
});

const mode = `Give ${edgeModes.map((each) => JSON.stringify(each)).join(" or ")}`;
export const edgeModeBody = z.strictObject({ mode: z.enum(edgeModes as [EdgeMode], { error: mode }), why });
export const edgeSyncBody = z.strictObject({
  dryRun: z.boolean({ error: "Give true or false" }).optional(),
});

export const policyText = z.strictObject({ text: z.string({ error: "Give the policy as YAML text" }) });
export const policyBody = z.strictObject({
  text: policyText.shape.text,
  after: version("Give the version this one is to follow, a whole number from 1").optional(),
  why,
});
const against = 'Give "current" or "none"';
export const rehearseBody = z.strictObject({
  policy: policyText.shape.text,
  against: z.enum(["current", "none"], { error: against }).optional(),
});
export const rollbackBody = z.strictObject({
  to: version("Give the version to go back to, a whole number from 1").optional(),
  why,
});

const duration = "Give a duration such as 10m, 1h, 1d, or permanent";
export const listBody = z.strictObject({
  for: z
    .union([someText(40, duration), z.int({ error: duration }).min(1, { error: duration })], {
      error: duration,
    })
    .optional(),
  why,
  force: z.boolean({ error: "Give true or false" }).optional(),
});

const mostPreviewed = "Give 1 to 1000 addresses or blocks";
export const previewBody = z.strictObject({
  addresses: z
    .array(someText(100, "Give an address or a block"), { error: mostPreviewed })
    .min(1, { error: mostPreviewed })
    .max(1000, { error: mostPreviewed }),
});
export const clientsQuery = z.strictObject({
  within: someText(64, "Give an address or a block such as 203.0.113.0/24").optional(),
  key: digest.optional(),
  most,
});

const ruleMode = 'Give "enforce", "shadow" or "off"';
export const ruleModeBody = z.strictObject({
  mode: z.enum(["enforce", "shadow", "off"], { error: ruleMode }),
  why,
});

const tier = "Give the name of a tier, or null for the default one";
export const tierBody = z.strictObject({ tier: someText(64, tier).nullable() });

const limits = 'Give windows in seconds with their limits, e.g. {"60": 100}, or null for those of the tier';
export const limitsBody = z.strictObject({
  limits: z
    .record(
      z.string().regex(/^[1-9]\d{0,8}$/, { error: limits }),
      z.int({ error: limits }).min(0, { error: limits }),
      { error: limits },
    )
    .refine((given) => Object.keys(given).length > 0, { error: limits })
    .refine((given) => Object.keys(given).length <= 30, { error: "Give at most 30 windows" })
    .nullable(),
});

export const noBody = z.strictObject({});

const role = `Give ${roles.map((each) => JSON.stringify(each)).join(" or ")}`;
const tokenName =
  "Give 1 to 40 letters, digits, spaces and . _ @ + -, beginning with a letter, and not an id";
const tokenFor = "Give a duration such as 12h or 30d; without it the token holds until it is revoked";
export const tokenBody = z.strictObject({
  name: z
    .string({ error: tokenName })
    .regex(/^(?![0-9a-f]{12}$)\p{L}(?:[\p{L}\p{N} ._@+-]{0,38}[\p{L}\p{N}._@+-])?$/u, { error: tokenName }),
  role: z.enum(roles as unknown as [Role], { error: role }),
  for: someText(40, tokenFor).optional(),
});

const login = 'Give {"token": "…"} or {"code": "…"}, one of them';
export const loginBody = z
  .strictObject({ token: someText(1024, login).optional(), code: someText(200, login).optional() })
  .refine(({ token, code }) => (token === undefined) !== (code === undefined), { error: login });

const fact = (error: string) => text(8192, `${error}, at most 8192 characters`).optional();
const header = "Give headers as names with texts";
export const subjectBody = z.strictObject({
  subject: z
    .strictObject(
      {
        ip: fact("Give the client's address"),
        method: fact("Give a method"),
        host: fact("Give a host"),
        path: fact("Give a path"),
        user: fact("Give a user"),
        customer: fact("Give a customer"),
        account: fact("Give an account"),
        ignoresCase: z.boolean({ error: "Give true or false" }).optional(),
        headers: z
          .record(z.string().max(256), z.string({ error: header }).max(8192, { error: header }), {
            error: header,
          })
          .refine((given) => Object.keys(given).length <= 200, { error: "Give at most 200 headers" })
          .optional(),
      },
      {
        error: (issue) =>
          issue.code === "unrecognized_keys"
            ? undefined
            : 'Give what is known of the client, e.g. {"ip": "203.0.113.7"}',
      },
    )
    .refine((given) => Object.keys(given).length > 0, {
      error: 'Give at least one fact, e.g. {"ip": "203.0.113.7"}',
    }),
});

const remembered = z.boolean({ error: "Give true or false" }).optional();
export const explainBody = subjectBody.extend({ remembered });
export const clearBody = z
  .strictObject({ subject: subjectBody.shape.subject.optional(), key: digest.optional(), remembered })
  .refine(({ subject, key }) => (subject === undefined) !== (key === undefined), {
    path: ["subject"],
    error:
      'Give what is known of the client, e.g. {"ip": "203.0.113.7"}, or instead of it the key of an offender',
  });
