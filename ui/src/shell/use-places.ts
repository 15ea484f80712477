import { useMay } from '../data/use-may.ts';
import { PLACES, type Place } from './places.ts';

/** The screens that the user may open. */
export function usePlaces(): readonly Place[] {
  const may = useMay();
  return PLACES.filter(({ scope }) => scope === undefined || may(scope));
}
