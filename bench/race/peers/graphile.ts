/** graphile-worker as it comes, with as many connections as it asks for. */

import type { OpenContender } from '../contender.ts';
import { openGraphile } from './open-graphile.ts';

export const open: OpenContender = ({ url }) => openGraphile(url, {});
