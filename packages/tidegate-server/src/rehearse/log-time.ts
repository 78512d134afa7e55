const months = "JanFebMarAprMayJunJulAugSepOctNovDec";
const clfLength = 26;

/** Reads `10/Oct/2000:13:55:36 -0700`, that begins at `at`; NaN for what is none. Remembers the last: most lines share their second. */
export function clfClock(): (text: string, at: number) => number {
  const last = new Uint8Array(clfLength);
  let lastMs = Number.NaN;
  return (text, at) => {
    // From the right: seconds change most.
    let i = clfLength - 1;
    while (i >= 0 && text.charCodeAt(at + i) === last[i]) i--;
    if (i < 0) return lastMs;
    const ms = clfTime(text, at);
    if (Number.isNaN(ms)) return ms;
    for (i = 0; i < clfLength; i++) last[i] = text.charCodeAt(at + i);
    lastMs = ms;
    return ms;
  };
}

function clfTime(text: string, at: number): number {
  const month = months.indexOf(text.substring(at + 3, at + 6)) / 3;
  const sign = text.charCodeAt(at + 21);
  if (!Number.isInteger(month) || month < 0 || (sign !== 43 && sign !== 45)) return Number.NaN;
  const year = digits(text, at + 7, 4);
  const zone = (digits(text, at + 22, 2) * 60 + digits(text, at + 24, 2)) * (sign === 45 ? 1 : -1);
  const [day, hour, minute] = [digits(text, at, 2), digits(text, at + 12, 2), digits(text, at + 15, 2)];
  const second = digits(text, at + 18, 2);
  if (!(day >= 1 && day <= 31 && hour < 24 && minute < 60 && second <= 60)) return Number.NaN;
  return Date.UTC(year, month, day, hour, minute + zone, second);
}

const iso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?$/;

/** ISO 8601 with fractions kept; without a zone UTC is meant. NaN for what is none. */
export function isoTime(text: string): number {
  const [, date, time, fraction, zone = "Z"] = iso.exec(text) ?? [];
  if (date === undefined) return Number.NaN;
  const written = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const ms = Date.parse(`${date}T${time}${written}`);
  return fraction === undefined ? ms : ms + Number(`0.${fraction}`) * 1000;
}

export interface Moment {
  readonly ms: number;
  /** Told to the second only. */
  readonly isCoarse: boolean;
}

/** A time in whatever way logs write it: ISO 8601, as in combined logs, seconds or milliseconds since the epoch. */
export function anyTime(value: unknown): Moment | undefined {
  const text = String(value);
  const number =
    typeof value === "number" ? value : /^\d{9,}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(number)) {
    // Nobody logs the year 5138, nor 1973 in milliseconds.
    const ms = number > 1e11 ? number : number * 1000;
    return { ms: Math.round(ms * 1000) / 1000, isCoarse: Number.isInteger(number) && number <= 1e11 };
  }
  const ms = text.charCodeAt(2) === 47 ? clfTime(text, 0) : isoTime(text);
  return Number.isNaN(ms) ? undefined : { ms, isCoarse: !/[.,]\d/.test(text) };
}

function digits(text: string, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
