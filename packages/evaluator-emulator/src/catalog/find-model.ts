import { models, type CatalogModel } from "./models.ts";

/** The model with this id, or null when the price list does not have it. */
export function findModel(id: string): CatalogModel | null {
  return models.find((model) => model.id === id) ?? null;
}
