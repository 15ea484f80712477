import { Database } from '../../store/sqlite/base/database.ts';
import { homeOf } from '../../store/sqlite/base/home.ts';
import { lockFile } from '../../store/sqlite/base/lock-file.ts';
import { installedVersion } from '../../store/sqlite/base/migrate.ts';
import { type PromotionMark, promotionMark, setPromotionMark } from '../../store/sqlite/base/promotion-mark.ts';

/**
 * Removes the mark of a promotion from a file, so that Workron starts on it again. Returns the mark, or `undefined` if there is none, or
 * none by a promotion to `installation`.
 */
export function unmark(path: string, installation?: number): PromotionMark | undefined {
  const file = homeOf(path);
  using _owner = lockFile(file);
  using database = new Database(file, { readOnly: false });
  const mark = installedVersion(database, file) > 0 ? promotionMark(database) : undefined;
  if (mark === undefined || (installation ?? mark.installation) !== mark.installation) return undefined;
  setPromotionMark(database, file, undefined);
  return mark;
}
