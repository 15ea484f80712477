import { exerciseStore } from '../../../contract/exercise-store.ts';
import { openTestMemory } from '../../../contract/kit/memory.ts';
import { effort } from '../../effort.ts';

exerciseStore('memory', openTestMemory, effort);
