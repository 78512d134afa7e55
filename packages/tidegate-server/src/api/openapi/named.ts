import { z } from "zod";

/** Shapes that have a name in the document, and are referred to by it. */
export const namedShapes = z.registry<{ id: string }>();

/** An answer: every field of the type, and no other. */
export function answerOf<Type>(): <Shape extends { readonly [Name in keyof Required<Type>]: z.ZodType }>(
  id: string,
  shape: Shape,
) => z.ZodObject<Shape> {
  return (id, shape) => z.strictObject(shape).register(namedShapes, { id }) as never;
}

export const nameOf = (shape: z.ZodType): string | undefined => namedShapes.get(shape)?.id;

/** Milliseconds since the epoch. */
export const time = z.number().meta({ description: "Milliseconds since the epoch." });
export const count = z.int().min(0);
/** What never comes is null: JSON has no infinity. */
export const orNever = z.number().nullable().meta({ description: "Null: never." });
export const maybe = z.optional;
