/** "6 d 23 h", "59 s": two units at most. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const units: readonly (readonly [number, string])[] = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const first = units.findIndex(([size]) => seconds >= size);
  if (first === -1) return "0 s";
  let rest = seconds;
  return units
    .slice(first, first + 2)
    .map(([size, name]) => {
      const count = Math.floor(rest / size);
      rest -= count * size;
      return count === 0 ? "" : `${count} ${name}`;
    })
    .filter(Boolean)
    .join(" ");
}

/** Up to a thousand with one digit after the point, above without. */
export function rate(perSecond: number): string {
  return perSecond >= 1000 || Number.isInteger(perSecond)
    ? Math.round(perSecond).toLocaleString("en")
    : perSecond.toFixed(1);
}

/** As people read it: a part of one only where there are few. */
export function count(number: number): string {
  return number.toLocaleString("en", { maximumFractionDigits: Math.abs(number) < 10 ? 1 : 0 });
}

/** Made once: to make one takes far longer than to use it. */
const moments = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function moment(at: number): string {
  return timeText(moments, at);
}

/** A formatter throws at what is no time, and a page must not end for that. */
export function timeText(format: Intl.DateTimeFormat, at: number): string {
  return Math.abs(at) <= latest ? format.format(at) : "no time";
}

const latest = 8.64e15;

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** What others wrote, every character visible: none can hide, turn the line around or forge another. */
export function visible(text: string): string {
  return text.replace(unprintable, (character) => {
    const code = (character.codePointAt(0) as number).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}
