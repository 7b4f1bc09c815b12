{-# LANGUAGE OverloadedStrings #-}
-- | The operations of the experiment hasql, and its answers as lines and as weights.
module People (Operation (..), Person (..), Answer (..), operations, weight, lines_, day, dayNumber) where

import Data.Foldable (foldl')
import Data.Text (Text)
import qualified Data.Text as Text
import Data.Time.Calendar (Day (..))
import Protocol

data Operation = All !String | Between !String !Int !Int !Day | Transfer !Int !Int | Balances

data Person = Person !Int !Text !(Maybe Day)

data Answer = People [Person] | Moved !Int !Int | Conflict | Amounts [Int]

-- | An operation out of its line.
operations :: Fields -> Maybe Operation
operations line = case line of
  ["all", table] -> Just (All (Text.unpack table))
  ["between", table, above, below, other] -> Just (Between (Text.unpack table) (number above) (number below) (day (number other)))
  ["transfer", from, to] -> Just (Transfer (number from) (number to))
  ["balances"] -> Just Balances
  _ -> Nothing

day :: Int -> Day
day since1970 = ModifiedJulianDay (fromIntegral since1970 + 40587)

dayNumber :: Day -> Int
dayNumber found = fromIntegral (toModifiedJulianDay found) - 40587

weight :: Answer -> Int
weight answer = case answer of
  People people -> foldl' (\sum' (Person i n born) -> sum' + i + size n + maybe 0 dayNumber born) 0 people
  Moved from to -> from + to
  Conflict -> 0
  Amounts found -> sum found

lines_ :: Answer -> [Fields]
lines_ answer = case answer of
  People people -> [["person", decimal i, n, maybe "" (decimal . dayNumber) born] | Person i n born <- people]
  Moved from to -> [["moved", decimal from, decimal to]]
  Conflict -> [["conflict"]]
  Amounts found -> ["balances" : map decimal found]
