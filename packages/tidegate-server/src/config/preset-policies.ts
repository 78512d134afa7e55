import { readFileSync } from "node:fs";

/** A policy to start from, as it is shipped. */
export interface PresetPolicy {
  readonly name: string;
  /** Its first line, in a sentence. */
  readonly about: string;
  /** YAML with comments, to be kept and changed. */
  readonly text: string;
  /** The same as a whole tidegate.yaml, with the settings its rules need. */
  readonly whole: string;
}

const account =
  "identify: { account: { field: email } } # the field of the login form that says whose login is tried";
const customer = [
  "trustedProxies: [127.0.0.1] # the gateway that looks at keys; what it says of a client is believed",
  "identify: { customer: X-Customer-Id } # the header in which it says whose key that is",
];
const needs = { website: [account], api: customer, login: [account] } as const;

export const presetNames: readonly string[] = Object.keys(needs);

export function presetPolicy(name: keyof typeof needs | (string & {})): PresetPolicy | undefined {
  if (!Object.hasOwn(needs, name)) return undefined;
  const text = readFileSync(new URL(`../../presets/${name}.yaml`, import.meta.url), "utf8");
  const settings = [
    "upstreams:",
    "  - url: http://127.0.0.1:3000 # your app",
    ...needs[name as keyof typeof needs],
  ];
  return {
    name,
    about: text.slice(2, text.indexOf("\n")),
    text,
    whole: `${[...settings, "policy:"].join("\n")}\n${text.replace(/^(?=.)/gm, "  ")}`,
  };
}
