/** Own limits as they are written down elsewhere: `{"60":100,"3600":1000}`, or null for none. */
export function limitsText(limits: ReadonlyMap<number, number> | undefined): string | null {
  return limits === undefined || limits.size === 0 ? null : JSON.stringify(Object.fromEntries(limits));
}
