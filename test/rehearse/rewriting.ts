/** `TIDEGATE_REWRITE=1`: what is stored is written anew instead of compared. */
export const isRewriting = process.env.TIDEGATE_REWRITE === "1";
