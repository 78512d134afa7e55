/** Remembers what was answered for each text. Begins anew when it remembers too many. */
export function memo<Answer>(judge: (text: string) => Answer, most = 50_000): (text: string) => Answer {
  const known = new Map<string, Answer>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const answer = judge(text);
    if (known.size >= most) known.clear();
    known.set(text, answer);
    return answer;
  };
}
