/** In which tokens are written, and URLs with passwords: what stands there is not repeated to anybody. */
const secretSections = ["store", "admin", "decide", "customers", "edges"];

const topKey = /^["']?([\w-]+)["']?\s*:/;
const secretKey = new RegExp(`(?:^|[\\s{,"'])(?:${secretSections.join("|")})["']?\\s*:`);

export function isSecretSection(name: unknown): boolean {
  return secretSections.includes(name as string);
}

/** Whether a line, by its number from 1, stands in such a section. Where sections do not begin at the edge, it does if there is one. */
export function isInSecretSection(lines: readonly string[], number: number): boolean {
  for (let i = number - 1; i >= 0; i--) {
    const [, section] = topKey.exec(lines[i] ?? "") ?? [];
    if (section !== undefined) return isSecretSection(section);
  }
  return lines.some((line) => secretKey.test(line));
}
