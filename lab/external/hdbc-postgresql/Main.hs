{-# LANGUAGE OverloadedStrings #-}
-- | The experiment hasql by HDBC: all values as text, statements prepared on the client's side, transactions that HDBC begins itself.
module Main (main) where

import Control.Exception (catch, throwIO)
import qualified Data.Text as Text
import Database.HDBC hiding (run)
import Database.HDBC.PostgreSQL (connectPostgreSQL)

import People
import Protocol

main :: IO ()
main = serve $ \hello -> do
  let [host, port] = server hello
  db <- connectPostgreSQL ("host=" ++ host ++ " port=" ++ port ++ " user=lab dbname=postgres")
  runRaw db "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE"
  commit db
  balance <- prepare db "SELECT balance FROM balances WHERE id = ?"
  setBalance <- prepare db "UPDATE balances SET balance = ? WHERE id = ?"
  let people text parameters = People . map person <$> quickQuery' db text parameters
      move key change = do
        _ <- execute balance [iToSql key]
        found <- fetchAllRows' balance
        case found of
          [[amount]] -> do
            let old = fromSql amount
            _ <- execute setBalance [iToSql (old + change), iToSql key]
            pure old
          _ -> fail ("no account " ++ show key)
  pure Subject
    { about = "HDBC-postgresql 2.5"
    , settings = "libpq, all values as text; SERIALIZABLE; HDBC is always in a transaction: reads of a batch share one, which ends in the timed part"
    , setUp = \line _ -> mapM_ (runRaw db . Text.unpack) (drop 1 line) >> commit db
    , operation = operations
    , run = \wanted -> case wanted of
        All table -> people ("SELECT * FROM " ++ table) []
        Between table above below other ->
          people ("SELECT * FROM " ++ table ++ " WHERE id > ? AND id < ? AND birthday != ?")
            [iToSql above, iToSql below, toSql other]
        Transfer from to ->
          (Moved <$> move from (-3) <*> move to 3 <* commit db) `catch` \failure ->
            if seState failure `elem` ["40001", "40P01"] then Conflict <$ rollback db else throwIO failure
        Balances -> Amounts . map fromSql . concat <$> quickQuery' db "SELECT balance FROM balances ORDER BY id" []
    , weigh = weight
    , endBatch = commit db
    , rows = lines_
    , close = disconnect db
    }

person :: [SqlValue] -> Person
person [i, n, born] = Person (fromSql i) (fromSql n) (fromSql born)
person other = error ("a row of three columns was expected, not " ++ show other)
