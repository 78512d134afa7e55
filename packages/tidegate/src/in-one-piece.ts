/** V8 keeps a text as the parts it was put together from, or cut from: each reading of it then takes the long way, and the whole it was cut from stays in memory. */
export function inOnePiece(text: string): string {
  const codes: number[] = [];
  for (let i = 0; i < text.length; i++) codes.push(text.charCodeAt(i));
  return String.fromCharCode(...codes);
}
