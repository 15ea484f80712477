/** graphile-worker with its defaults, and with as many connections as it recommends. */

import type { OpenContender } from '../contender.ts';
import { openGraphile } from './open-graphile.ts';

export const open: OpenContender = ({ url }) => openGraphile(url, {});
