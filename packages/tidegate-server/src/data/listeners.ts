/** Those to be told of something. One's mistake is reported, and harms neither the teller nor the others. */
export interface Listeners<News> {
  readonly size: number;
  /** Answers how to stop. */
  add(listener: (news: News) => void): () => void;
  tell(news: News): void;
  clear(): void;
}

export function listeners<News>(onError: (error: unknown) => void): Listeners<News> {
  const known = new Set<{ hear(news: News): void }>();
  return {
    get size() {
      return known.size;
    },
    add(hear) {
      const listener = { hear };
      known.add(listener);
      return () => void known.delete(listener);
    },
    tell(news) {
      for (const listener of known) {
        try {
          listener.hear(news);
        } catch (error) {
          onError(error);
        }
      }
    },
    clear: () => known.clear(),
  };
}
